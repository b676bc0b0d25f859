'use client';

import { Alert, Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { formatMoney } from '@/app/_components/format';
import { type TaxRule, taxContradiction } from '@/lib/customers/tax';
import { lineTotals } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/read-amount';
import { ofEach, type TypedLine } from '@/lib/records/typed-lines';
import { LineRow } from './line-row';
import { NEW_LINE } from './new-line';
import { TotalList } from './total-list';

interface Props {
  /** None: what was imported with its sums alone may go without. */
  initial: TypedLine[];
  /** By the names of the fields: `lines.0.text`. */
  problems: Record<string, string>;
  /** As it was typed. */
  currency: string;
  /** What the customer usually pays; null if the customer is not known yet. */
  tax: TaxRule | null;
}

/** Lines, and what they come to while they are typed; the server reckons again. */
export function LineEditor({ initial, problems, currency, tax }: Props) {
  const [lines, setLines] = useState(initial.map((line, key) => ({ key, line })));
  const nextKey = useRef(initial.length);
  const add = useRef<HTMLButtonElement>(null);
  const [newest, setNewest] = useState<number | null>(null);
  const [moved, setMoved] = useState('');
  // Problems name lines by their place: once lines change places, they would stand at others.
  const [outdated, setOutdated] = useState<typeof problems | null>(null);
  const usual = useRef(String(tax?.rate ?? initial[0]?.tax_rate ?? ''));
  const rate = tax === null ? null : String(tax.rate);
  useEffect(() => {
    if (rate === null || rate === usual.current) return;
    // Lines with another rate than the usual one were given it on purpose.
    const before = usual.current;
    setLines((all) =>
      all.map((one) =>
        one.line.tax_rate === before ? { ...one, line: { ...one.line, tax_rate: rate } } : one,
      ),
    );
    usual.current = rate;
  }, [rate]);
  const code = /^[a-z]{3}$/i.test(currency) ? currency.toLowerCase() : 'eur';
  const totals = lineTotals(
    lines.map(({ line }) => toAmounts(line)),
    code,
  );

  const change = (key: number, changes: Partial<TypedLine>) =>
    setLines((all) => all.map((one) => (one.key === key ? { key, line: { ...one.line, ...changes } } : one)));
  const append = () => {
    const key = nextKey.current++;
    const tax_rate = lines.at(-1)?.line.tax_rate ?? usual.current;
    setLines([...lines, { key, line: { ...NEW_LINE, tax_rate } }]);
    setNewest(key);
  };
  const move = (from: number, by: number) => {
    const rest = lines.filter((_, i) => i !== from);
    setLines([...rest.slice(0, from + by), ...lines.slice(from, from + 1), ...rest.slice(from + by)]);
    setMoved(`Line ${from + 1} is line ${from + by + 1} now.`);
    setOutdated(problems);
  };
  const remove = (key: number) => {
    setLines(lines.filter((one) => one.key !== key));
    setOutdated(problems);
    add.current?.focus();
  };
  const isNeeded = initial.length > 0 && lines.length === 1;
  return (
    <Stack gap="md">
      {lines.map(({ key, line }, i) => (
        <LineRow
          key={key}
          index={i}
          count={lines.length}
          line={line}
          net={formatMoney(Number(totals.nets[i]), code)}
          problems={outdated === problems ? {} : ofEach((name) => problems[`lines.${i}.${name}`])}
          isNew={key === newest}
          onChange={(changes) => change(key, changes)}
          onMove={(by) => move(i, by)}
          onRemove={isNeeded ? undefined : () => remove(key)}
        />
      ))}
      <VisuallyHidden role="status">{moved}</VisuallyHidden>
      <Button
        ref={add}
        variant="default"
        w="fit-content"
        onClick={append}
        leftSection={<IconPlus size={16} aria-hidden />}
      >
        Add line
      </Button>
      <TaxNote tax={tax} rates={lines.map(({ line }) => toRate(line.tax_rate))} />
      {lines.length > 0 && <TotalList totals={totals} currency={code} />}
    </Stack>
  );
}

/** Why the customer pays no tax, or how the lines contradict what it usually pays. */
function TaxNote({ tax, rates }: { tax: TaxRule | null; rates: (number | null)[] }) {
  if (tax === null) return null;
  const contradiction = taxContradiction(tax, rates);
  if (contradiction) {
    return (
      <Alert color="orange" variant="light" role="status">
        {`${contradiction} Check it before you save.`}
      </Alert>
    );
  }
  if (tax.reason === null) return null;
  return <Text size="sm">{`0 % tax: ${tax.reason}`}</Text>;
}

function toRate(typed: string): number | null {
  const decimal = typedAmount(typed);
  return decimal === null ? null : Number(decimal);
}

/** What is no number yet counts as none. */
const toAmounts = ({ quantity, unit_price, tax_rate }: TypedLine) => ({
  quantity: typedAmount(quantity) ?? '0',
  unit_price: typedAmount(unit_price) ?? '0',
  tax_rate: typedAmount(tax_rate) ?? '0',
});
