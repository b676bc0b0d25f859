import type { Variables } from './env-variables';

export type StripeMode = 'test' | 'live';

/** What variables say against each other: sentences, each begins with the variable to change. */
export function contradictions(v: Variables): string[] {
  const secret = keyMode(v.STRIPE_SECRET_KEY);
  const publishable = keyMode(v.STRIPE_PUBLISHABLE_KEY);
  const live = secret === 'live' || publishable === 'live';
  return [
    secret && publishable && secret !== publishable
      ? `STRIPE_SECRET_KEY is a ${secret} key and STRIPE_PUBLISHABLE_KEY a ${publishable} key: take both from the same mode.`
      : '',
    live && !v.PUBLIC_URL?.startsWith('https://')
      ? 'PUBLIC_URL must be an https address while the Stripe keys are live keys.'
      : '',
    live && v.STRIPE_API_BASE ? 'STRIPE_API_BASE must be unset while the Stripe keys are live keys.' : '',
    v.VERCEL && !v.DATABASE_URL
      ? 'DATABASE_URL must be set on Vercel, which has no disk for the embedded database: set it and run npm run db:migrate.'
      : '',
    (v.DATABASE_URL_DIRECT || v.DATABASE_POOLER) && !v.DATABASE_URL
      ? 'DATABASE_URL must be set together with DATABASE_URL_DIRECT and DATABASE_POOLER, which say more of it.'
      : '',
    v.VERCEL && !v.PUBLIC_URL
      ? 'PUBLIC_URL must be set on Vercel: the address at which people reach this service.'
      : '',
    v.DATABASE_URL && !v.BETTER_AUTH_SECRET
      ? 'BETTER_AUTH_SECRET must be set together with DATABASE_URL: openssl rand -base64 32 makes one.'
      : '',
  ].filter((sentence) => sentence !== '');
}

/** The mode that a Stripe key is of. */
export function keyMode(key: string | undefined): StripeMode | null {
  if (key === undefined) return null;
  return key.includes('_live_') ? 'live' : 'test';
}
