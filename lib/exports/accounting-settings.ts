import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { accountingSettings } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { AppError, type FieldError } from '../errors';
import type { SettingsWriter } from '../records/record-kind';
import { outdated } from '../records/save-records';

/** Settings of the export for DATEV. The table `accounting_settings` explains them. */
export type AccountingSettings = Omit<
  typeof accountingSettings.$inferSelect,
  'id' | 'created_at' | 'updated_at'
>;

const EMPTY: AccountingSettings = {
  consultant_number: null,
  client_number: null,
  fiscal_year_month: 1,
  account_length: 4,
  accounts: {},
};

/** The default accounts in DATEV's charts of accounts for companies. */
export const PRESETS = {
  skr03: {
    ...{ debtor: '1410', 'payment stripe': '1360', 'payment staff': '1200', 'payment api': '1200' },
    ...{ 'payment import': '1200', balance: '1700', paid_elsewhere: '1590' },
    ...{ 'revenue S 19': '8400', 'revenue S 7': '8300', 'revenue Z 0': '8290', 'revenue E 0': '8100' },
    ...{ 'revenue AE 0': '8336', 'revenue K 0': '8125', 'revenue G 0': '8120', 'revenue O 0': '8338' },
    ...{ 'write_off 19': '2406', 'write_off 7': '2401', 'write_off 0': '2400' },
  },
  skr04: {
    ...{ debtor: '1210', 'payment stripe': '1460', 'payment staff': '1800', 'payment api': '1800' },
    ...{ 'payment import': '1800', balance: '3500', paid_elsewhere: '1370' },
    ...{ 'revenue S 19': '4400', 'revenue S 7': '4300', 'revenue Z 0': '4290', 'revenue E 0': '4100' },
    ...{ 'revenue AE 0': '4336', 'revenue K 0': '4125', 'revenue G 0': '4120', 'revenue O 0': '4338' },
    ...{ 'write_off 19': '6936', 'write_off 7': '6931', 'write_off 0': '6930' },
  },
} satisfies Record<string, AccountingSettings['accounts']>;

/** Form fields with a single account, by the account's purpose. */
const SINGLE = {
  debtor: 'debtor',
  'debtor base': 'debtor_base',
  'payment stripe': 'payment_stripe',
  'payment staff': 'payment_staff',
  'payment api': 'payment_api',
  'payment import': 'payment_import',
  balance: 'balance',
  paid_elsewhere: 'paid_elsewhere',
} as const;
/** Form fields with one account per line. */
const LISTS = ['revenue', 'write_off'] as const;

type TypedName =
  | Exclude<keyof AccountingSettings, 'accounts'>
  | (typeof SINGLE)[keyof typeof SINGLE]
  | (typeof LISTS)[number];

/** The settings as the values of the form's fields. */
export type TypedSettings = Record<TypedName, string>;

/** Returns the settings. All accounts are missing before the first save. */
export async function getAccountingSettings(db: Database): Promise<AccountingSettings> {
  const [row] = await db.select().from(accountingSettings).where(eq(accountingSettings.id, 1));
  if (!row) return EMPTY;
  const { id: _, created_at: __, updated_at: ___, ...rest } = row;
  return rest;
}

/** Returns the settings as the values of the form's fields. A list has lines such as `S 19 8400`. */
export function toTyped({ accounts, ...rest }: AccountingSettings): TypedSettings {
  const single = Object.entries(SINGLE).map(([purpose, field]) => [field, accounts[purpose] ?? '']);
  const lists = LISTS.map((list) => {
    const own = Object.entries(accounts).filter(([purpose]) => purpose.startsWith(`${list} `));
    return [
      list,
      own
        .map(([purpose, account]) => `${purpose.slice(list.length + 1)} ${account}`)
        .sort()
        .join('\n'),
    ];
  });
  const texts = Object.entries(rest).map(([name, value]) => [name, String(value ?? '')]);
  return Object.fromEntries([...texts, ...single, ...lists]);
}

/**
 * Saves the settings of the export for DATEV.
 *
 * @throws AppError validation_failed with the invalid fields; precondition_failed
 */
export async function saveAccountingSettings(
  db: Database,
  typed: TypedSettings,
  { actor, precondition = () => true }: SettingsWriter<AccountingSettings>,
): Promise<void> {
  const { settings, problems } = readTyped(typed);
  if (problems.length > 0) throw new AppError('validation_failed', 'The accounts are not saved.', problems);
  await transact(db, async (tx) => {
    const [before = null] = await tx.select().from(accountingSettings).for('update');
    if (!precondition(await getAccountingSettings(tx))) throw outdated();
    const [after = null] = before
      ? await tx.update(accountingSettings).set(settings).returning()
      : await tx.insert(accountingSettings).values(settings).returning();
    const entry = { actor, action: 'accounting_settings.update', entity_id: 1 } as const;
    await recordAudit(tx, { ...entry, entity: 'accounting_settings', before, after });
  });
}

const LINES = {
  revenue: /^(S|Z|E|AE|G|O|K) (\d{1,2}(?:\.\d{1,2})?) (\d+)( \d{1,4})?$/,
  write_off: /^()(\d{1,2}(?:\.\d{1,2})?) (\d+)( \d{1,4})?$/,
};
const EXAMPLES = { revenue: 'S 19 8400', write_off: '19 2406' };

function readTyped(typed: TypedSettings): { settings: AccountingSettings; problems: FieldError[] } {
  const problems: FieldError[] = [];
  const check = (holds: boolean, field: TypedName, message: string) => {
    if (!holds) problems.push({ field, message });
  };
  const numberIn = (field: TypedName, least: number, most: number) => {
    const text = typed[field].trim();
    const fits = /^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most;
    check(fits, field, `must be a number from ${least} to ${most}`);
    return Number(text);
  };
  const account_length = numberIn('account_length', 4, 8);
  const accounts: AccountingSettings['accounts'] = {};
  const add = (purpose: string, account: string, field: TypedName, isDebtor = false) => {
    const [digits = ''] = account.split(' ');
    const lengths = isDebtor ? [account_length, account_length + 1] : [account_length];
    check(/^\d+$/.test(digits), field, 'must consist of digits');
    check(lengths.includes(digits.length), field, `must have ${lengths.join(' or ')} digits`);
    check(
      accounts[purpose] === undefined,
      field,
      `must not have two lines for ${purpose.replace(/^\w+ /, '')}`,
    );
    accounts[purpose] = account;
  };
  for (const [purpose, field] of Object.entries(SINGLE)) {
    const account = typed[field].trim();
    if (account) add(purpose, account, field, field === 'debtor' || field === 'debtor_base');
  }
  const hasBoth = accounts.debtor !== undefined && accounts['debtor base'] !== undefined;
  check(!hasBoth, 'debtor_base', 'must be empty if there is a collective account');
  for (const list of LISTS) {
    for (const line of typed[list].split('\n')) {
      const text = line.trim().replace(/\s+/g, ' ').replace(',', '.');
      if (!text) continue;
      const [, category = '', rate = '', account, key = ''] = LINES[list].exec(text) ?? [];
      if (account === undefined) check(false, list, `must have lines such as ${EXAMPLES[list]}`);
      else add([list, category, Number(rate)].filter((part) => part !== '').join(' '), account + key, list);
    }
  }
  const optional = (field: TypedName, least: number, most: number) =>
    typed[field].trim() === '' ? null : String(numberIn(field, least, most));
  const settings = {
    consultant_number: optional('consultant_number', 1001, 9_999_999),
    client_number: optional('client_number', 1, 99_999),
    fiscal_year_month: numberIn('fiscal_year_month', 1, 12),
    ...{ account_length, accounts },
  };
  return { settings, problems };
}
