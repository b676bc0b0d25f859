import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { idsOf } from '../customers/merged-customers';
import { MAX_ID } from '../page';

/**
 * How the erasure of a customer treats a text column. A `none` column stays as it is, because it contains no personal
 * data of customers, or because the law requires its data. A `cleared` column is emptied or gets a fixed text, or its
 * row is deleted. In a `redacted` column, the customer's known values are replaced. `withoutPersonalData` is applied to
 * a `reduced` column. A `derived` column is computed from other columns.
 */
type Treatment = 'none' | 'cleared' | 'redacted' | 'reduced' | 'derived';

const treated = (treatment: Treatment) => (columns: string) =>
  Object.fromEntries(columns.split(' ').map((column) => [column, treatment]));
const none = treated('none');
const cleared = treated('cleared');
const redacted = treated('redacted');

/** All columns that can contain text, by table name. A test fails for every column that is missing here. */
export const TEXT_COLUMNS: Record<string, Record<string, Treatment>> = {
  accounting_entries: {
    ...none('record customer_number customer_country invoice_number credit_note_number method currency'),
    ...cleared('customer_name customer_vat_id'),
    ...redacted('payment_reference'),
  },
  accounting_settings: none('consultant_number client_number accounts'),
  access_tokens: none('name token_hash created_by staff_email'),
  // Messages contain no customers' data. A test alert contains the e-mail address of the admin who sent it.
  alerts: none('cause message pending failure'),
  audit_log: { ...none('actor_id actor_name action entity'), ...redacted('before after') },
  bank_entries: {
    ...none('account currency bank_reference fingerprint'),
    // An erasure clears only entries that are linked to a transfer or payment of the customer. It cannot find others.
    ...cleared('name iban purpose'),
  },
  bank_rules: { ...none('actor_id actor_name'), iban: 'cleared' },
  bank_statements: none('account currency file_name file_sha256 actor_id actor_name'),
  company: none(
    'name street postal_code city country vat_id tax_number register_entry contact_name contact_phone contact_email bank_name iban bic other_ibans payment_terms footer logo',
  ),
  customer_notes: { ...none('actor_id actor_name'), text: 'cleared' },
  billed_service_blocks: none('kind'),
  billed_service_deltas: none('kinds'),
  customer_services: { ...none('service_number currency'), name: 'redacted', domain: 'cleared' },
  customers: {
    // Accounting needs the customer number, and the country determines the tax.
    ...none('customer_number country currency'),
    ...cleared(
      'first_name last_name company email phone street postal_code city vat_id buyer_reference payment_terms',
    ),
    search_text: 'derived',
  },
  credit_note_lines: { text: 'redacted' },
  // Documents of credit notes are kept like those of invoices.
  credit_notes: {
    ...none('number stripe_credit_note_id currency seller buyer xml pdf_sha256 rates'),
    ...redacted('reason stripe_lines'),
  },
  disputes: none(
    'stripe_payment_intent_id stripe_charge_id stripe_invoice_id currency provider_status reason stripe_dispute_id',
  ),
  draft_import_keys: { import_key: 'redacted' },
  due_invoice_blocks: none('kind'),
  due_invoice_deltas: none('kinds'),
  imported_refunds: { reference: 'redacted' },
  imports: none('kind file_name actor_id actor_name counts shape reading'),
  invoice_blocks: none('kind'),
  invoice_deltas: none('kinds'),
  // The law requires the documents of erased customers for years, and the daily job deletes them afterwards. Rows
  // without a document are deleted immediately.
  invoice_documents: none('seller buyer xml pdf_sha256'),
  invoice_lines: { text: 'redacted' },
  invoices: none('number currency stripe_invoice_id stripe_customer_id lines_hash reminded_on'),
  list_sum_deltas: none('list kind currency'),
  list_sums: none('list kind currency'),
  // Accounting needs the customer numbers.
  merged_customers: none('customer_number'),
  month_amounts: none('measure currency'),
  month_states: none('measure currency'),
  number_series: none('name prefix'),
  oauth_access_tokens: none(
    'id token client_id user_id session_id refresh_id authorization_code_id reference_id scopes resources confirmation requested_user_info_claims',
  ),
  oauth_client_assertions: none('id'),
  oauth_client_resources: none('id client_id resource_id metadata'),
  oauth_clients: none(
    'id client_id client_secret client_discovery_id user_id reference_id registered_from name uri icon contacts tos policy software_id software_version software_statement application_type subject_type redirect_uris post_logout_redirect_uris backchannel_logout_uri token_endpoint_auth_method grant_types response_types scopes client_credentials_scopes jwks jwks_uri metadata',
  ),
  oauth_consents: none('id client_id user_id reference_id scopes resources requested_user_info_claims'),
  oauth_refresh_tokens: none(
    'id token client_id user_id session_id authorization_code_id reference_id scopes resources confirmation requested_user_info_claims rotation_replay_response',
  ),
  oauth_resources: none(
    'id identifier name allowed_scopes custom_claims metadata signing_algorithm signing_key_id',
  ),
  payment_blocks: none('kind'),
  payment_deltas: none('kinds'),
  payment_tombstones: redacted('reference'),
  payments: {
    ...none('currency stripe_payment_intent_id stripe_charge_id'),
    // The foreign key updates `transfer` when the reference of the transfer changes.
    ...{ payment_reference: 'redacted', transfer: 'derived' },
  },
  // For a payment, `stripe_id` contains the reference.
  reconciliation_changes: { ...none('entity field'), ...redacted('stripe_id before after') },
  reconciliation_failures: none('object stripe_id error_code'),
  reconciliation_runs: none('started_by cursor time_zone error_code denied_code'),
  reconciliation_seen: none('stripe_id'),
  // The texts are our own. They contain placeholders instead of customers' data.
  reminder_settings: none('levels'),
  refunds: none(
    'stripe_payment_intent_id stripe_charge_id stripe_invoice_id currency provider_status reason stripe_refund_id',
  ),
  sales_document_blocks: none('kind'),
  sales_document_deltas: none('kinds'),
  // The daily job deletes the files of erased customers, as it deletes `invoice_documents`.
  sales_document_files: none('pdf_sha256'),
  sales_document_lines: { text: 'redacted' },
  sales_documents: none('document_number currency'),
  servers: none('hostname ipv4 ipv6 stack operating_system cpu storage control_panel location'),
  service_blocks: none('kind number'),
  service_deltas: none('kinds number'),
  staff_accounts: none(
    'id user_id account_id provider_id access_token refresh_token id_token scope password',
  ),
  staff_passkeys: none('id user_id name public_key credential_id device_type transports aaguid'),
  staff_rate_limits: none('id key'),
  staff_sessions: none('id user_id token ip_address user_agent'),
  staff_sign_in_failures: none('account origin'),
  staff_two_factors: none('id user_id secret backup_codes'),
  staff_users: none('id name email image'),
  staff_verifications: none('id identifier value'),
  staff_tasks: { ...none('kind entity done_by'), ...redacted('subject message') },
  stripe_customers: { ...none('stripe_customer_id number_reported_by'), ...cleared('numbers details') },
  stripe_events: {
    ...none('id type api_version object_id stripe_customer_id error_code checkout'),
    payload: 'reduced',
    ...redacted('failure_reason warnings changes'),
  },
  stripe_payouts: none('stripe_payout_id currency status failure_code sums differences'),
  stripe_payout_entries: none(
    'stripe_transaction_id type currency source_id stripe_payment_intent_id stripe_invoice_id',
  ),
  stripe_invoice_lines: { ...none('taxes'), description: 'redacted' },
  subscription_items: {
    ...none('stripe_subscription_item_id currency interval'),
    ...redacted('named_service_id named_service_number'),
  },
  subscriptions: none('pause_behavior stripe_subscription_id stripe_customer_id'),
  receivables: none('currency'),
  sum_deltas: none('of currency'),
  sums: none('of currency'),
  tool_calls: { ...none('caller caller_name client_id staff_email tool trace_id'), arguments: 'cleared' },
  transfers: { ...none('currency paid_back'), ...redacted('reference method') },
  valid_document_blocks: none('kind'),
  valid_document_deltas: none('kinds'),
  wrong_counts: none('list'),
};

/** Returns the columns of a table that have one of the given treatments. */
export function columnsOf(table: string, ...treatments: Treatment[]): string[] {
  const columns = Object.entries(TEXT_COLUMNS[table] ?? {});
  return columns.filter(([, treatment]) => treatments.includes(treatment)).map(([column]) => column);
}

type KnownValues = Record<
  'first_name' | 'last_name' | 'company' | 'email' | 'phone' | 'street' | 'vat_id',
  string | null
>;

/**
 * Lists the personal values of a customer: names, e-mail addresses, phone numbers, streets and VAT IDs. Sources are the
 * customer's row, the audit log (including customers merged into this one) and the details from Stripe. Towns and
 * postal codes are left out, because alone they do not identify a person.
 */
export async function listValues(db: Database, customerId: number): Promise<string[]> {
  const id = Math.min(customerId, MAX_ID);
  const states = await rows<KnownValues>(
    db,
    sql`select r.first_name, r.last_name, r.company, r.email, r.phone, r.street, r.vat_id
      from (
        select to_jsonb(c) as state from customers c where id = ${id}::int
        union all select jsonb_array_elements(jsonb_build_array(before, after)) from audit_log
          where entity = 'customer' and entity_id in (${idsOf(id)})
        union all select jsonb_build_object('last_name', d -> 'value' -> 'name', 'email', d -> 'value' -> 'email',
            'phone', d -> 'value' -> 'phone', 'street', d -> 'value' -> 'street')
          from stripe_customers l, jsonb_array_elements(l.details) d where l.customer_id = ${id}::int
      ) s, jsonb_to_record(nullif(s.state, 'null'::jsonb))
        as r(first_name text, last_name text, company text, email text, phone text, street text, vat_id text)`,
  );
  return [...new Set(states.flatMap(toValues))];
}

function toValues({ first_name, last_name, ...others }: KnownValues): string[] {
  const names = [first_name, last_name].filter((name) => name !== null);
  return [names.join(' '), ...names, ...Object.values(others)].flatMap((value) => value || []);
}

const ERASED = '[erased]';
/** Minimum length of a redacted value. Texts of two characters occur too often in other contexts. */
const SHORTEST = 3;

/** Returns a pure function that replaces the values in a text. It matches whole words and ignores case. */
export function toRedactor(values: string[]): (text: string) => string {
  // Imports and Stripe may write a letter with a diacritic as one code point (NFC) or as two (NFD).
  const forms = values.flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD')]);
  const known = [...new Set(forms.map((value) => value.trim()))]
    .filter((value) => value.length >= SHORTEST)
    // Replace the longest values first, so that a full name is replaced before its parts.
    .sort((a, b) => b.length - a.length)
    .map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(/\s+/g, '\\s+'));
  if (known.length === 0) return (text) => text;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${known.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (text) => text.replaceAll(pattern, ERASED);
}

/** Redacts all texts of a JSON value. Properties named in `emptied` become null. */
export function redactJson(
  value: unknown,
  redact: (text: string) => string,
  emptied: ReadonlySet<string> = new Set(),
): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((entry) => redactJson(entry, redact, emptied));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      emptied.has(name) ? null : redactJson(entry, redact, emptied),
    ]),
  );
}
