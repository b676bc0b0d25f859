import { findCustomerChoices } from '@/lib/customers/find-customers';
import { customerQuery } from '@/lib/customers/schema';
import { invalidField } from '@/lib/errors';
import { methodNotAllowed } from '@/lib/http/messages';
import { answerStaff } from '../../_components/page/answer-staff';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** Returns the customers that a form suggests during typing. */
export function GET(request: Request): Promise<Response> {
  return answerStaff(request, async ({ db, env }, text) => {
    const parsed = customerQuery.safeParse(text);
    if (!parsed.success) throw invalidField('q', parsed.error.issues[0]?.message ?? 'is no search');
    return findCustomerChoices(db, parsed.data, env.tax);
  });
}
