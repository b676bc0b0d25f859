'use client';

import {
  Alert,
  Button,
  Fieldset,
  Group,
  NativeSelect,
  Stack,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { formatMoney } from '@/app/_components/format';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { type TaxRule, taxContradiction } from '@/lib/customers/tax';
import { categorize, type Seller, type TaxCategory } from '@/lib/customers/tax-category';
import { lineTotals } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/read-amount';
import { type LineField, NEW_LINE, ofEach, type TypedLine } from '@/lib/records/typed-lines';
import { TotalList } from './total-list';

interface LineEditorProps {
  /** Initial lines. Empty for an imported record that has only totals. */
  initial: TypedLine[];
  /** Error messages by field name, such as `lines.0.text`. */
  problems: Record<string, string>;
  /** The typed currency code, which may be invalid. */
  currency: string;
  /** The chosen customer. Null if no customer is chosen yet. */
  customer: CustomerChoice | null;
  seller: Seller;
}

/** Edits lines and shows their totals while the person types. The server recalculates the totals when it saves. */
export function LineEditor({ initial, problems, currency, customer, seller }: LineEditorProps) {
  const tax = customer?.tax ?? null;
  const [lines, setLines] = useState(initial.map((line, key) => ({ key, line })));
  const nextKey = useRef(initial.length);
  const add = useRef<HTMLButtonElement>(null);
  const [newest, setNewest] = useState<number | null>(null);
  const [moved, setMoved] = useState('');
  // Error messages refer to lines by position, so moving or removing a line makes them outdated.
  const [outdated, setOutdated] = useState<typeof problems | null>(null);
  const usual = useRef(String(tax?.rate ?? initial[0]?.tax_rate ?? ''));
  const rate = tax === null ? null : String(tax.rate);
  useEffect(() => {
    if (rate === null || rate === usual.current) return;
    // Update only lines with the previous default rate. Assume that staff chose any other rate on purpose.
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
  const taxed = lines.map(({ line }) => ({
    tax_rate: toRate(line.tax_rate) ?? 0,
    tax_category: toCategory(line.tax_category),
  }));
  const { categories, problems: wrong } = customer
    ? categorize(taxed, customer.buyer, seller)
    : { categories: [], problems: [] };

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
          usual={seller.country === null || line.tax_category ? undefined : categories[i]}
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
      <TaxNote tax={tax} rates={lines.map(({ line }) => toRate(line.tax_rate))} wrong={wrong} />
      {lines.length > 0 && <TotalList totals={totals} currency={code} />}
    </Stack>
  );
}

interface TaxNoteProps {
  tax: TaxRule | null;
  rates: (number | null)[];
  /** Error messages for wrong combinations of tax rate, category and customer. They prevent issuing the invoice. */
  wrong: string[];
}

/**
 * Explains why the customer pays no tax, or warns if the lines contradict the customer's tax or the tax rules.
 */
function TaxNote({ tax, rates, wrong }: TaxNoteProps) {
  if (tax === null) return null;
  const contradiction = taxContradiction(tax, rates);
  const warnings = [...(contradiction ? [contradiction] : []), ...wrong.map((problem) => `${problem}.`)];
  if (warnings.length > 0) {
    return (
      <Alert color="orange" variant="light" role="status">
        {`${warnings.join(' ')} Check it before you save.`}
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

const CATEGORIES: Record<TaxCategory, string> = {
  S: 'taxed',
  Z: 'zero rate',
  E: 'exempt',
  AE: 'reverse charge',
  G: 'export',
  O: 'not subject to VAT',
  K: 'supply within the EU',
};

const toCategory = (typed: string) => (typed in CATEGORIES ? (typed as TaxCategory) : null);

/** Parses the amounts of a line. Text that is not a number yet counts as 0. */
const toAmounts = ({ quantity, unit_price, tax_rate }: TypedLine) => ({
  quantity: typedAmount(quantity) ?? '0',
  unit_price: typedAmount(unit_price) ?? '0',
  tax_rate: typedAmount(tax_rate) ?? '0',
});

interface LineRowProps {
  /** Position of the line, counted from 0. */
  index: number;
  count: number;
  line: TypedLine;
  /** Formatted amount without tax. */
  net: string;
  problems: Partial<Record<LineField, string | undefined>>;
  /** Default tax category of the line. Undefined if it is unknown, or if the line has a chosen category. */
  usual: TaxCategory | undefined;
  /** Whether the line was just added. Its first field then receives the focus. */
  isNew: boolean;
  onChange(changes: Partial<TypedLine>): void;
  /** Moves the line up (-1) or down (1). */
  onMove(by: number): void;
  /** Removes the line. Undefined for the only remaining line, unless the form was opened without lines. */
  onRemove: (() => void) | undefined;
}

const FIELDS = [
  { name: 'text', label: 'Text', flex: '1 1 16rem', maxLength: 500 },
  { name: 'quantity', label: 'Quantity', flex: '1 1 5rem', inputMode: 'decimal' },
  { name: 'unit_price', label: 'Price without tax', flex: '1 1 8rem', inputMode: 'decimal' },
  { name: 'tax_rate', label: 'Tax in %', flex: '1 1 5rem', inputMode: 'decimal' },
] as const;

const focus = (field: HTMLInputElement | null) => field?.focus();

/** Shows the fields of a line, with buttons to move and remove it. */
function LineRow({ index, count, line, net, problems, usual, isNew, ...on }: LineRowProps) {
  const { onChange, onMove, onRemove } = on;
  return (
    <Fieldset legend={`Line ${index + 1}`} radius="md">
      <Group align="flex-start" gap="sm">
        {FIELDS.map(({ name, flex, ...field }) => (
          <TextInput
            key={name}
            {...field}
            {...(isNew && name === 'text' && { ref: focus })}
            flex={flex}
            name={`lines.${index}.${name}`}
            value={line[name]}
            error={problems[name]}
            onChange={(event) => onChange({ [name]: event.currentTarget.value })}
            autoComplete="off"
          />
        ))}
        <NativeSelect
          label="Tax category"
          flex="1 1 9rem"
          name={`lines.${index}.tax_category`}
          value={line.tax_category}
          error={problems.tax_category}
          onChange={(event) => onChange({ tax_category: event.currentTarget.value })}
          data={[
            { value: '', label: usual ? `Usual: ${usual}, ${CATEGORIES[usual]}` : 'Usual' },
            ...Object.entries(CATEGORIES).map(([value, about]) => ({ value, label: `${value}, ${about}` })),
          ]}
        />
      </Group>
      <Group justify="space-between" mt="xs" gap="xs">
        <Group gap={4}>
          <MoveButton index={index} isEnd={index === 0} to="up" onMove={() => onMove(-1)} />
          <MoveButton index={index} isEnd={index === count - 1} to="down" onMove={() => onMove(1)} />
          {onRemove && (
            <Button variant="subtle" size="compact-sm" onClick={onRemove}>
              Remove line {index + 1}
            </Button>
          )}
        </Group>
        <Text size="sm" c="dimmed" className="figures">
          Net: {net}
        </Text>
      </Group>
    </Fieldset>
  );
}

interface MoveProps {
  index: number;
  isEnd: boolean;
  to: 'up' | 'down';
  onMove(): void;
}

/**
 * Shows a button that moves a line. At an end of the list, the button only looks disabled, so that it keeps the focus.
 */
function MoveButton({ index, isEnd, to, onMove }: MoveProps) {
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      aria-label={`Move line ${index + 1} ${to}`}
      aria-disabled={isEnd}
      {...(isEnd && { 'data-disabled': true })}
      onClick={() => !isEnd && onMove()}
    >
      {to === 'up' ? 'Up' : 'Down'}
    </Button>
  );
}
