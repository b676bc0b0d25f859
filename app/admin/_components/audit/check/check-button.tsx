import { getRuntime } from '@/lib/runtime';
import { SubmitButton } from '../../forms/submit-button';

/** Brings a record in sync with Stripe at once; without an API key Stripe cannot be asked. */
export async function CheckButton({ action }: { action(): Promise<void> }) {
  const { stripe } = await getRuntime();
  if (!stripe) return null;
  return (
    <form action={action}>
      <SubmitButton variant="default">Check with Stripe</SubmitButton>
    </form>
  );
}
