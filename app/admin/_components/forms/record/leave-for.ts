import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';

/** Ends an action that wrote something: all staff pages are read anew, and the browser goes on to an address. */
export function leaveFor(address: string): never {
  revalidatePath('/admin', 'layout');
  redirect(address);
}
