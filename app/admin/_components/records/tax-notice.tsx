import { Alert } from '@mantine/core';
import { getCustomer } from '@/lib/customers/queries';
import { taxContradiction, taxRuleOf } from '@/lib/customers/tax';
import { getRuntime } from '@/lib/runtime';

interface TaxNoticeProps {
  customerId: number;
  /** Lines of a draft. Issued documents get no notice, because their tax can no longer change. */
  lines: { tax_rate: string }[];
}

/** A notice why the lines of a draft have no tax, or that their tax differs from the customer's usual tax. */
export async function TaxNotice({ customerId, lines }: TaxNoticeProps) {
  const { db, env } = await getRuntime();
  const customer = await getCustomer(db, { id: customerId });
  if (!customer || lines.length === 0) return null;
  const rule = taxRuleOf(customer, env.tax);
  const contradiction = taxContradiction(
    rule,
    lines.map(({ tax_rate }) => Number(tax_rate)),
  );
  if (!contradiction && rule.reason === null) return null;
  const kind = contradiction
    ? { color: 'orange', title: 'Check the tax' }
    : { color: 'blue', title: '0 % tax' };
  return (
    <Alert {...kind} variant="light" mb="lg">
      {contradiction ?? rule.reason}
    </Alert>
  );
}
