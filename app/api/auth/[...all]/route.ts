import { handleStaffAuth } from '@/lib/auth/staff-auth';
import { getRuntime } from '@/lib/runtime';

async function handle(request: Request): Promise<Response> {
  return handleStaffAuth(await getRuntime(), request);
}

export { handle as GET, handle as POST };
