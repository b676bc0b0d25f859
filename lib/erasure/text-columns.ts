/**
 * What becomes of a text column when a customer is erased. `none`: it never holds anything personal of a customer (ids,
 * closed sets of words, what is the staff's or our own); `cleared`: emptied, or its row deleted; `redacted`: what is
 * known of the customer is replaced in it; `reduced`: see `withoutPersonalData`; `derived`: follows from other columns.
 */
type Treatment = 'none' | 'cleared' | 'redacted' | 'reduced' | 'derived';

/** Every column of every table that may hold a text, by the tables' names: a test fails for one that is not here. */
export const TEXT_COLUMNS: Record<string, Record<string, Treatment>> = {
  accounting_entries: {
    ...none('record customer_number invoice_number method currency'),
    customer_name: 'cleared',
    payment_reference: 'redacted',
  },
  access_tokens: none('name token_hash created_by staff_email'),
  audit_log: {
    ...none('actor_id actor_name action entity'),
    before: 'redacted',
    after: 'redacted',
  },
  customer_notes: { ...none('actor_id actor_name'), text: 'cleared' },
  customer_services: { ...none('service_number currency'), name: 'redacted', domain: 'cleared' },
  customers: {
    // The number is what the books know the customer by; the country says which tax was due.
    ...none('customer_number country currency'),
    first_name: 'cleared',
    last_name: 'cleared',
    company: 'cleared',
    email: 'cleared',
    phone: 'cleared',
    street: 'cleared',
    postal_code: 'cleared',
    city: 'cleared',
    vat_id: 'cleared',
    search_text: 'derived',
  },
  disputes: none(
    'stripe_payment_intent_id stripe_charge_id stripe_invoice_id currency provider_status reason stripe_dispute_id',
  ),
  draft_import_keys: { import_key: 'redacted' },
  imported_refunds: { reference: 'redacted' },
  imports: none('kind file_name actor_id actor_name counts shape reading'),
  invoice_blocks: none('kind'),
  invoice_deltas: none('kinds'),
  invoice_lines: { text: 'redacted' },
  invoices: none('number currency stripe_invoice_id stripe_customer_id'),
  // Numbers stay with the books.
  merged_customers: none('customer_number'),
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
  payment_tombstones: none('reference'),
  payments: { ...none('currency stripe_payment_intent_id stripe_charge_id'), payment_reference: 'redacted' },
  reconciliation_changes: {
    ...none('entity stripe_id field'),
    before: 'redacted',
    after: 'redacted',
  },
  reconciliation_failures: none('object stripe_id error_code'),
  reconciliation_runs: none('started_by cursor error_code denied_code'),
  reconciliation_seen: none('stripe_id'),
  refunds: none(
    'stripe_payment_intent_id stripe_charge_id stripe_invoice_id currency provider_status reason stripe_refund_id',
  ),
  sales_document_blocks: none('kind'),
  sales_document_deltas: none('kinds'),
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
  staff_tasks: none('kind subject message entity done_by'),
  stripe_customers: {
    ...none('stripe_customer_id number_reported_by'),
    numbers: 'cleared',
    details: 'cleared',
  },
  stripe_events: {
    ...none('id type api_version object_id stripe_customer_id error_code checkout'),
    payload: 'reduced',
    failure_reason: 'redacted',
    warnings: 'redacted',
    changes: 'redacted',
  },
  subscription_items: {
    ...none('stripe_subscription_item_id currency interval'),
    named_service_id: 'redacted',
    named_service_number: 'redacted',
  },
  subscriptions: none('pause_behavior stripe_subscription_id stripe_customer_id'),
  sum_deltas: none('of currency'),
  sums: none('of currency'),
  tool_calls: { ...none('caller caller_name client_id staff_email tool trace_id'), arguments: 'cleared' },
  wrong_counts: none('list'),
};

/** The columns of a table that are treated so. */
export function columnsOf(table: string, ...treatments: Treatment[]): string[] {
  const columns = Object.entries(TEXT_COLUMNS[table] ?? {});
  return columns.filter(([, treatment]) => treatments.includes(treatment)).map(([column]) => column);
}

function none(columns: string): Record<string, Treatment> {
  return Object.fromEntries(columns.split(' ').map((column) => [column, 'none']));
}
