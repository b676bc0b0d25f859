/** Why a form without scripts came back; the code is that of the error. */
export function problemText(code: string | string[] | undefined, wrong: string): string | null {
  if (code === undefined) return null;
  if (code === 'unauthenticated') return wrong;
  if (code === 'conflict') return 'This sign-in is over. Start again with your password.';
  if (code === 'too_many_requests') return 'Too many attempts to sign in. Wait a while, then try again.';
  return 'Signing in does not work right now. Try again in a moment.';
}
