CREATE EXTENSION IF NOT EXISTS pg_trgm;
--> statement-breakpoint
CREATE TYPE "public"."access_scope" AS ENUM('mcp:read', 'payments:read', 'payments:write', 'customers:read', 'billing:read', 'servers:read', 'without_personal_data');--> statement-breakpoint
CREATE TYPE "public"."staff_role" AS ENUM('staff', 'admin');--> statement-breakpoint
CREATE TYPE "public"."customer_status" AS ENUM('active', 'inactive', 'blocked');--> statement-breakpoint
CREATE TYPE "public"."stripe_number_source" AS ENUM('customer', 'subscription', 'other');--> statement-breakpoint
CREATE TYPE "public"."stripe_linked_by" AS ENUM('staff', 'number', 'email', 'created');--> statement-breakpoint
CREATE TYPE "public"."invoice_status" AS ENUM('draft', 'sent', 'paid', 'overdue', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."sales_document_status" AS ENUM('draft', 'sent', 'accepted', 'rejected', 'expired', 'converted');--> statement-breakpoint
CREATE TYPE "public"."sales_document_type" AS ENUM('offer', 'order_confirmation');--> statement-breakpoint
CREATE TYPE "public"."actor_type" AS ENUM('token', 'staff', 'cli');--> statement-breakpoint
CREATE TYPE "public"."tool_call_outcome" AS ENUM('ok', 'not_found', 'validation_failed', 'refused', 'error');--> statement-breakpoint
CREATE TYPE "public"."dispute_status" AS ENUM('warning_needs_response', 'warning_under_review', 'warning_closed', 'needs_response', 'under_review', 'won', 'lost', 'prevented');--> statement-breakpoint
CREATE TYPE "public"."payment_source" AS ENUM('api', 'staff', 'stripe', 'import');--> statement-breakpoint
CREATE TYPE "public"."payment_status" AS ENUM('pending', 'completed', 'failed', 'refunded');--> statement-breakpoint
CREATE TYPE "public"."refund_source" AS ENUM('stripe', 'staff', 'api');--> statement-breakpoint
CREATE TYPE "public"."refund_status" AS ENUM('pending', 'succeeded', 'failed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."billing_interval" AS ENUM('month', 'quarter', 'half_year', 'year', 'two_years', 'three_years', 'once');--> statement-breakpoint
CREATE TYPE "public"."server_status" AS ENUM('active', 'maintenance', 'offline', 'decommissioned');--> statement-breakpoint
CREATE TYPE "public"."service_status" AS ENUM('draft', 'order', 'active', 'suspended', 'cancelled', 'terminated');--> statement-breakpoint
CREATE TYPE "public"."service_type" AS ENUM('hosting', 'domain', 'service', 'server', 'license', 'other');--> statement-breakpoint
CREATE TYPE "public"."subscription_status" AS ENUM('incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."change_outcome" AS ENUM('fixed', 'reported', 'failed');--> statement-breakpoint
CREATE TYPE "public"."event_outcome" AS ENUM('processed', 'stale', 'ignored', 'unmatched', 'failed');--> statement-breakpoint
CREATE TYPE "public"."run_phase" AS ENUM('inbox', 'subscriptions', 'invoices', 'rechecks', 'payments', 'money_back', 'overdue', 'done');--> statement-breakpoint
CREATE TYPE "public"."run_status" AS ENUM('running', 'completed', 'completed_with_errors', 'failed');--> statement-breakpoint
CREATE TYPE "public"."run_trigger" AS ENUM('cron', 'schedule', 'staff', 'cli');--> statement-breakpoint
CREATE TABLE "access_tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "access_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"token_hash" text NOT NULL,
	"scopes" "access_scope"[] NOT NULL,
	"hides_personal_data" boolean DEFAULT false NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"created_by" text,
	"staff_email" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "access_tokens_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "oauth_access_tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"client_id" text NOT NULL,
	"session_id" text,
	"user_id" text NOT NULL,
	"reference_id" text,
	"authorization_code_id" text,
	"resources" text[],
	"requested_user_info_claims" text[],
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked" timestamp with time zone,
	"confirmation" jsonb,
	"scopes" text[] NOT NULL,
	"refresh_id" text,
	CONSTRAINT "oauth_access_tokens_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "oauth_client_assertions" (
	"id" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_client_resources" (
	"id" text PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"resource_id" text NOT NULL,
	"metadata" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_clients" (
	"id" text PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"client_secret" text,
	"client_discovery_id" text,
	"disabled" boolean DEFAULT false,
	"skip_consent" boolean,
	"enable_end_session" boolean,
	"subject_type" text,
	"scopes" text[],
	"client_credentials_scopes" text[],
	"user_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"name" text,
	"uri" text,
	"icon" text,
	"contacts" text[],
	"tos" text,
	"policy" text,
	"software_id" text,
	"software_version" text,
	"software_statement" text,
	"redirect_uris" text[] NOT NULL,
	"post_logout_redirect_uris" text[],
	"backchannel_logout_uri" text,
	"backchannel_logout_session_required" boolean,
	"token_endpoint_auth_method" text,
	"application_type" text,
	"jwks" text,
	"jwks_uri" text,
	"grant_types" text[],
	"response_types" text[],
	"require_pkce" boolean,
	"dpop_bound_access_tokens" boolean DEFAULT false,
	"reference_id" text,
	"metadata" jsonb,
	"registered_from" text,
	"authorized_at" timestamp with time zone,
	CONSTRAINT "oauth_clients_client_id_unique" UNIQUE("client_id")
);
--> statement-breakpoint
CREATE TABLE "oauth_consents" (
	"id" text PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"user_id" text NOT NULL,
	"reference_id" text,
	"resources" text[],
	"requested_user_info_claims" text[],
	"scopes" text[] NOT NULL,
	"hides_personal_data" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_refresh_tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"client_id" text NOT NULL,
	"session_id" text,
	"user_id" text NOT NULL,
	"reference_id" text,
	"authorization_code_id" text,
	"resources" text[],
	"requested_user_info_claims" text[],
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked" timestamp with time zone,
	"confirmation" jsonb,
	"scopes" text[] NOT NULL,
	"rotated_at" timestamp with time zone,
	"rotation_replay_response" text,
	"rotation_replay_expires_at" timestamp with time zone,
	"auth_time" timestamp with time zone,
	CONSTRAINT "oauth_refresh_tokens_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "oauth_resources" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"name" text NOT NULL,
	"access_token_ttl" integer,
	"refresh_token_ttl" integer,
	"signing_algorithm" text,
	"signing_key_id" text,
	"allowed_scopes" text[],
	"custom_claims" jsonb,
	"dpop_bound_access_tokens_required" boolean DEFAULT false,
	"disabled" boolean DEFAULT false,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"policy_version" integer DEFAULT 1,
	"metadata" jsonb,
	CONSTRAINT "oauth_resources_identifier_unique" UNIQUE("identifier")
);
--> statement-breakpoint
CREATE TABLE "staff_accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "staff_passkeys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"name" text,
	"public_key" text NOT NULL,
	"credential_id" text NOT NULL,
	"counter" bigint NOT NULL,
	"device_type" text NOT NULL,
	"backed_up" boolean NOT NULL,
	"transports" text,
	"aaguid" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "staff_passkeys_credential_id_unique" UNIQUE("credential_id")
);
--> statement-breakpoint
CREATE TABLE "staff_rate_limits" (
	"id" text PRIMARY KEY NOT NULL,
	"key" text NOT NULL,
	"count" integer NOT NULL,
	"last_request" bigint NOT NULL,
	CONSTRAINT "staff_rate_limits_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "staff_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "staff_sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "staff_settings" (
	"id" integer PRIMARY KEY NOT NULL,
	"two_factor_required" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "staff_sign_in_failures" (
	"account" text NOT NULL,
	"origin" text NOT NULL,
	"failures" integer NOT NULL,
	"wait_until" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "staff_sign_in_failures_account_origin_pk" PRIMARY KEY("account","origin")
);
--> statement-breakpoint
CREATE TABLE "staff_tasks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "staff_tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"message" text NOT NULL,
	"entity" text,
	"entity_id" integer,
	"done_at" timestamp with time zone,
	"done_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "staff_tasks_subject" UNIQUE("kind","subject")
);
--> statement-breakpoint
CREATE TABLE "staff_two_factors" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"secret" text NOT NULL,
	"backup_codes" text NOT NULL,
	"verified" boolean DEFAULT false NOT NULL,
	"failed_verification_count" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone,
	CONSTRAINT "staff_two_factors_user_id_unique" UNIQUE("user_id")
);
--> statement-breakpoint
CREATE TABLE "staff_users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"role" "staff_role" DEFAULT 'staff' NOT NULL,
	"two_factor_enabled" boolean DEFAULT false NOT NULL,
	"password_temporary" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "staff_users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "staff_verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoice_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "invoice_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "invoice_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "payment_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "payment_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sales_document_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "sales_document_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "sales_document_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service_blocks" (
	"number" text NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "service_blocks_kind_number_pk" PRIMARY KEY("kind","number")
);
--> statement-breakpoint
CREATE TABLE "service_deltas" (
	"number" text NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sum_deltas" (
	"of" text NOT NULL,
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"row_count" bigint NOT NULL,
	"amount" numeric(24, 3) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sums" (
	"of" text NOT NULL,
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"row_count" bigint NOT NULL,
	"amount" numeric(24, 3) NOT NULL,
	CONSTRAINT "sums_of_day_currency_pk" PRIMARY KEY("of","day","currency")
);
--> statement-breakpoint
CREATE TABLE "wrong_counts" (
	"list" text PRIMARY KEY NOT NULL,
	"noticed_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customer_notes" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "customer_notes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" integer NOT NULL,
	"text" text NOT NULL,
	"actor_type" "actor_type" NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "customers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_number" text NOT NULL,
	"first_name" text,
	"last_name" text,
	"company" text,
	"email" text,
	"phone" text,
	"street" text,
	"postal_code" text,
	"city" text,
	"country" text,
	"vat_id" text,
	"tax_exempt" boolean DEFAULT false NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"status" "customer_status" DEFAULT 'active' NOT NULL,
	"erased_at" timestamp with time zone,
	"search_text" text GENERATED ALWAYS AS (replace(lower(lower(normalize(E'
' || customer_number || E'
' || coalesce(email, '') || E'
' || coalesce(first_name, '') || ' ' || coalesce(last_name, '') || E'
' || coalesce(last_name, '') || E'
' || coalesce(company, ''))) collate "und-x-icu") collate "default", 'ß', 'ss')) STORED NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "customers_customer_number_unique" UNIQUE("customer_number"),
	CONSTRAINT "customers_currency_iso" CHECK ("customers"."currency" ~ '^[a-z]{3}$'),
	CONSTRAINT "customers_country_iso" CHECK ("customers"."country" ~ '^[A-Z]{2}$')
);
--> statement-breakpoint
CREATE TABLE "merged_customers" (
	"id" integer PRIMARY KEY NOT NULL,
	"customer_number" text NOT NULL,
	"customer_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stripe_customers" (
	"stripe_customer_id" text PRIMARY KEY NOT NULL,
	"customer_id" integer NOT NULL,
	"linked_by" "stripe_linked_by" NOT NULL,
	"number_source" "stripe_number_source",
	"number_reported_at" timestamp with time zone,
	"number_reported_by" text,
	"numbers" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"details" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"recheck_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "draft_import_keys" (
	"import_key" text PRIMARY KEY DEFAULT 'draft-' || gen_random_uuid() NOT NULL,
	"invoice_id" integer NOT NULL,
	CONSTRAINT "draft_import_keys_invoice_id_unique" UNIQUE("invoice_id")
);
--> statement-breakpoint
CREATE TABLE "invoice_lines" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "invoice_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"position" integer NOT NULL,
	"text" text NOT NULL,
	"quantity" numeric(12, 3) NOT NULL,
	"unit_price" numeric(15, 3) NOT NULL,
	"tax_rate" numeric(5, 2) NOT NULL,
	"invoice_id" integer NOT NULL,
	CONSTRAINT "invoice_lines_position" UNIQUE("invoice_id","position")
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "invoices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"number" text,
	"customer_id" integer NOT NULL,
	"subscription_id" integer,
	"status" "invoice_status" DEFAULT 'draft' NOT NULL,
	"invoice_date" date NOT NULL,
	"due_date" date,
	"currency" text DEFAULT 'eur' NOT NULL,
	"subtotal" numeric(15, 3) NOT NULL,
	"tax" numeric(15, 3) NOT NULL,
	"total" numeric(15, 3) NOT NULL,
	"amount_paid" numeric(15, 3) DEFAULT '0' NOT NULL,
	"amount_due" numeric(15, 3) NOT NULL,
	"paid_at" timestamp with time zone,
	"payment_failed_at" timestamp with time zone,
	"uncollectible" boolean DEFAULT false NOT NULL,
	"amount_off_stripe" numeric(15, 3),
	"amount_credited" numeric(15, 3) DEFAULT '0' NOT NULL,
	"balance_applied" numeric(15, 3),
	"collected_by_payment_id" integer,
	"stripe_invoice_id" text,
	"stripe_customer_id" text,
	"stripe_synced_at" timestamp with time zone,
	"provider_as_of" timestamp with time zone,
	"provider_gone_at" timestamp with time zone,
	"recheck_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invoices_stripe_invoice_id_unique" UNIQUE("stripe_invoice_id"),
	CONSTRAINT "invoices_number_present" CHECK ("invoices"."number" is not null or "invoices"."status" = 'draft' or "invoices"."stripe_invoice_id" is not null),
	CONSTRAINT "invoices_amount_paid" CHECK ("invoices"."amount_paid" >= 0),
	CONSTRAINT "invoices_currency_iso" CHECK ("invoices"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "number_series" (
	"name" text PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"with_year" boolean NOT NULL,
	"width" integer NOT NULL,
	"first_count" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sales_document_lines" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sales_document_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"position" integer NOT NULL,
	"text" text NOT NULL,
	"quantity" numeric(12, 3) NOT NULL,
	"unit_price" numeric(15, 3) NOT NULL,
	"tax_rate" numeric(5, 2) NOT NULL,
	"sales_document_id" integer NOT NULL,
	CONSTRAINT "sales_document_lines_position" UNIQUE("sales_document_id","position")
);
--> statement-breakpoint
CREATE TABLE "sales_documents" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sales_documents_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"document_number" text NOT NULL,
	"type" "sales_document_type" NOT NULL,
	"status" "sales_document_status" DEFAULT 'draft' NOT NULL,
	"customer_id" integer NOT NULL,
	"document_date" date NOT NULL,
	"valid_until" date,
	"currency" text DEFAULT 'eur' NOT NULL,
	"subtotal" numeric(15, 3) NOT NULL,
	"tax" numeric(15, 3) NOT NULL,
	"total" numeric(15, 3) NOT NULL,
	"converted_to_invoice_id" integer,
	"converted_to_document_id" integer,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sales_documents_document_number_unique" UNIQUE("document_number"),
	CONSTRAINT "sales_documents_currency_iso" CHECK ("sales_documents"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"actor_type" "actor_type" NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"entity" text NOT NULL,
	"entity_id" integer NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "imports" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "imports_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"file_name" text NOT NULL,
	"actor_type" "actor_type" NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"counts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"shape" text,
	"reading" jsonb,
	"finished_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tool_calls_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"called_at" timestamp with time zone NOT NULL,
	"caller" text NOT NULL,
	"caller_name" text NOT NULL,
	"client_id" text,
	"staff_email" text,
	"tool" text NOT NULL,
	"arguments" jsonb NOT NULL,
	"customer_id" integer,
	"rows" integer NOT NULL,
	"duration_ms" integer NOT NULL,
	"outcome" "tool_call_outcome" NOT NULL,
	"trace_id" text
);
--> statement-breakpoint
CREATE TABLE "accounting_entries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounting_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"record" text NOT NULL,
	"invoice_id" integer NOT NULL,
	"payment_id" integer,
	"booked_on" date NOT NULL,
	"original_date" date NOT NULL,
	"reverses" integer,
	"customer_number" text NOT NULL,
	"customer_name" text NOT NULL,
	"invoice_number" text,
	"due_date" date,
	"payment_reference" text,
	"method" text,
	"tax_rate" numeric(15, 3),
	"net" numeric(15, 3),
	"tax" numeric(15, 3),
	"gross" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounting_entries_reverses" UNIQUE("reverses")
);
--> statement-breakpoint
CREATE TABLE "disputes" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "disputes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"payment_id" integer,
	"stripe_payment_intent_id" text,
	"stripe_charge_id" text,
	"stripe_invoice_id" text,
	"amount" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"provider_status" text,
	"reason" text,
	"issued_at" timestamp with time zone NOT NULL,
	"provider_as_of" timestamp with time zone,
	"provider_gone_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"stripe_dispute_id" text NOT NULL,
	"status" "dispute_status" NOT NULL,
	"evidence_due_at" timestamp with time zone,
	"funds_withdrawn_at" timestamp with time zone,
	"funds_returned_at" timestamp with time zone,
	CONSTRAINT "disputes_stripe_dispute_id_unique" UNIQUE("stripe_dispute_id"),
	CONSTRAINT "disputes_amount" CHECK ("disputes"."amount" > 0),
	CONSTRAINT "disputes_currency_iso" CHECK ("disputes"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "imported_refunds" (
	"reference" text PRIMARY KEY NOT NULL,
	"payment_id" integer NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"refund_date" date NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_tombstones" (
	"reference" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"invoice_id" integer NOT NULL,
	"customer_id" integer NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"payment_date" date NOT NULL,
	"payment_reference" text NOT NULL,
	"refunded_amount" numeric(15, 3) DEFAULT '0' NOT NULL,
	"status" "payment_status" DEFAULT 'completed' NOT NULL,
	"source" "payment_source" NOT NULL,
	"provider_amount" numeric(15, 3),
	"provider_payment_date" date,
	"stripe_payment_intent_id" text,
	"stripe_charge_id" text,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_payment_reference_unique" UNIQUE("payment_reference"),
	CONSTRAINT "payments_amount" CHECK ("payments"."amount" > 0),
	CONSTRAINT "payments_refunded_amount" CHECK ("payments"."refunded_amount" between 0 and "payments"."amount"),
	CONSTRAINT "payments_reference" CHECK (length("payments"."payment_reference") between 1 and 255),
	CONSTRAINT "payments_currency_iso" CHECK ("payments"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "refunds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"payment_id" integer,
	"stripe_payment_intent_id" text,
	"stripe_charge_id" text,
	"stripe_invoice_id" text,
	"amount" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"provider_status" text,
	"reason" text,
	"issued_at" timestamp with time zone NOT NULL,
	"provider_as_of" timestamp with time zone,
	"provider_gone_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"stripe_refund_id" text,
	"status" "refund_status" NOT NULL,
	"source" "refund_source" NOT NULL,
	CONSTRAINT "refunds_stripe_refund_id_unique" UNIQUE("stripe_refund_id"),
	CONSTRAINT "refunds_amount" CHECK ("refunds"."amount" > 0),
	CONSTRAINT "refunds_currency_iso" CHECK ("refunds"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "customer_services" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "customer_services_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"service_number" text NOT NULL,
	"customer_id" integer NOT NULL,
	"server_id" integer,
	"service_type" "service_type" NOT NULL,
	"status" "service_status" DEFAULT 'draft' NOT NULL,
	"name" text NOT NULL,
	"domain" text,
	"price" numeric(15, 3) NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"billing_interval" "billing_interval" DEFAULT 'month' NOT NULL,
	"start_date" date,
	"next_billing_date" date,
	"synced_billing_date" date,
	"ends_on" date,
	"synced_ends_on" date,
	"cancelled_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "customer_services_service_number_unique" UNIQUE("service_number"),
	CONSTRAINT "customer_services_price" CHECK ("customer_services"."price" >= 0),
	CONSTRAINT "customer_services_currency_iso" CHECK ("customer_services"."currency" ~ '^[a-z]{3}$')
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "servers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"hostname" text NOT NULL,
	"ipv4" text[] DEFAULT '{}' NOT NULL,
	"ipv6" text[] DEFAULT '{}' NOT NULL,
	"stack" text,
	"operating_system" text,
	"cpu" text,
	"cpu_cores" integer,
	"ram_gb" integer,
	"storage" text,
	"control_panel" text,
	"location" text,
	"status" "server_status" DEFAULT 'active' NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "servers_hostname_unique" UNIQUE("hostname")
);
--> statement-breakpoint
CREATE TABLE "subscription_items" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subscription_items_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"subscription_id" integer NOT NULL,
	"customer_service_id" integer,
	"linked_by_staff" boolean DEFAULT false NOT NULL,
	"stripe_subscription_item_id" text,
	"named_service_id" text,
	"named_service_number" text,
	"quantity" integer DEFAULT 1 NOT NULL,
	"amount" numeric(15, 3),
	"currency" text,
	"interval" text,
	"interval_count" integer,
	"current_period_end" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subscription_items_stripe_subscription_item_id_unique" UNIQUE("stripe_subscription_item_id"),
	CONSTRAINT "subscription_items_quantity" CHECK ("subscription_items"."quantity" >= 0)
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subscriptions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"customer_id" integer NOT NULL,
	"status" "subscription_status" DEFAULT 'incomplete' NOT NULL,
	"next_billing_date" date,
	"cancel_at_period_end" boolean DEFAULT false NOT NULL,
	"cancel_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"pause_behavior" text,
	"pause_resumes_at" timestamp with time zone,
	"checkout_completed_at" timestamp with time zone,
	"stripe_subscription_id" text,
	"stripe_customer_id" text,
	"stripe_synced_at" timestamp with time zone,
	"provider_as_of" timestamp with time zone,
	"recheck_at" timestamp with time zone,
	"provider_gone_at" timestamp with time zone,
	"checkout_reference" integer,
	"reference_declined" boolean DEFAULT false NOT NULL,
	"is_stub" boolean GENERATED ALWAYS AS (provider_as_of is null and stripe_subscription_id is not null) STORED NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subscriptions_stripe_subscription_id_unique" UNIQUE("stripe_subscription_id")
);
--> statement-breakpoint
CREATE TABLE "reconciliation_changes" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reconciliation_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"entity" text NOT NULL,
	"entity_id" integer,
	"stripe_id" text,
	"field" text NOT NULL,
	"before" text,
	"after" text,
	"outcome" "change_outcome" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reconciliation_failures" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reconciliation_failures_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"object" text NOT NULL,
	"stripe_id" text NOT NULL,
	"error_code" text NOT NULL,
	"resolved_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reconciliation_runs" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reconciliation_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"trigger" "run_trigger" NOT NULL,
	"started_by" text,
	"status" "run_status" DEFAULT 'running' NOT NULL,
	"phase" "run_phase" DEFAULT 'inbox' NOT NULL,
	"cursor" text,
	"started_at" timestamp with time zone NOT NULL,
	"heartbeat_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"window_from" timestamp with time zone,
	"lists_completed" boolean DEFAULT false NOT NULL,
	"stripe_skipped" boolean DEFAULT false NOT NULL,
	"objects_checked" integer DEFAULT 0 NOT NULL,
	"changes_count" integer DEFAULT 0 NOT NULL,
	"failures_count" integer DEFAULT 0 NOT NULL,
	"error_code" text,
	"denied_code" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reconciliation_seen" (
	"run_id" integer NOT NULL,
	"stripe_id" text NOT NULL,
	CONSTRAINT "reconciliation_seen_run_id_stripe_id_pk" PRIMARY KEY("run_id","stripe_id")
);
--> statement-breakpoint
CREATE TABLE "stripe_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"api_version" text,
	"livemode" boolean NOT NULL,
	"stripe_created" timestamp with time zone NOT NULL,
	"object_id" text,
	"stripe_customer_id" text,
	"payload" text NOT NULL,
	"checkout" jsonb,
	"outcome" "event_outcome" NOT NULL,
	"attempts" integer DEFAULT 1 NOT NULL,
	"error_code" text,
	"failure_reason" text,
	"warnings" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"changes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"processed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_refusals" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"count" integer NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "webhook_refusals_one_row" CHECK ("webhook_refusals"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_client_id_oauth_clients_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("client_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_session_id_staff_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."staff_sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_refresh_id_oauth_refresh_tokens_id_fk" FOREIGN KEY ("refresh_id") REFERENCES "public"."oauth_refresh_tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_client_resources" ADD CONSTRAINT "oauth_client_resources_client_id_oauth_clients_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("client_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_client_resources" ADD CONSTRAINT "oauth_client_resources_resource_id_oauth_resources_identifier_fk" FOREIGN KEY ("resource_id") REFERENCES "public"."oauth_resources"("identifier") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_clients" ADD CONSTRAINT "oauth_clients_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_consents" ADD CONSTRAINT "oauth_consents_client_id_oauth_clients_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("client_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_consents" ADD CONSTRAINT "oauth_consents_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_refresh_tokens" ADD CONSTRAINT "oauth_refresh_tokens_client_id_oauth_clients_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("client_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_refresh_tokens" ADD CONSTRAINT "oauth_refresh_tokens_session_id_staff_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."staff_sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_refresh_tokens" ADD CONSTRAINT "oauth_refresh_tokens_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff_accounts" ADD CONSTRAINT "staff_accounts_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff_passkeys" ADD CONSTRAINT "staff_passkeys_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff_sessions" ADD CONSTRAINT "staff_sessions_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff_two_factors" ADD CONSTRAINT "staff_two_factors_user_id_staff_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."staff_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_notes" ADD CONSTRAINT "customer_notes_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merged_customers" ADD CONSTRAINT "merged_customers_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stripe_customers" ADD CONSTRAINT "stripe_customers_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "draft_import_keys" ADD CONSTRAINT "draft_import_keys_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sales_document_lines" ADD CONSTRAINT "sales_document_lines_sales_document_id_sales_documents_id_fk" FOREIGN KEY ("sales_document_id") REFERENCES "public"."sales_documents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sales_documents" ADD CONSTRAINT "sales_documents_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sales_documents" ADD CONSTRAINT "sales_documents_converted_to_invoice_id_invoices_id_fk" FOREIGN KEY ("converted_to_invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sales_documents" ADD CONSTRAINT "sales_documents_converted_to_document_id_sales_documents_id_fk" FOREIGN KEY ("converted_to_document_id") REFERENCES "public"."sales_documents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imported_refunds" ADD CONSTRAINT "imported_refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_services" ADD CONSTRAINT "customer_services_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer_services" ADD CONSTRAINT "customer_services_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD CONSTRAINT "subscription_items_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD CONSTRAINT "subscription_items_customer_service_id_customer_services_id_fk" FOREIGN KEY ("customer_service_id") REFERENCES "public"."customer_services"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reconciliation_changes" ADD CONSTRAINT "reconciliation_changes_run_id_reconciliation_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."reconciliation_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reconciliation_failures" ADD CONSTRAINT "reconciliation_failures_run_id_reconciliation_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."reconciliation_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reconciliation_seen" ADD CONSTRAINT "reconciliation_seen_run_id_reconciliation_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."reconciliation_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_client" ON "oauth_access_tokens" USING btree ("client_id","user_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_user" ON "oauth_access_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_session" ON "oauth_access_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_code" ON "oauth_access_tokens" USING btree ("authorization_code_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_reference" ON "oauth_access_tokens" USING btree ("reference_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_refresh" ON "oauth_access_tokens" USING btree ("refresh_id");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_end" ON "oauth_access_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_client_resources_pair" ON "oauth_client_resources" USING btree ("client_id","resource_id");--> statement-breakpoint
CREATE INDEX "oauth_client_resources_resource" ON "oauth_client_resources" USING btree ("resource_id");--> statement-breakpoint
CREATE INDEX "oauth_clients_user" ON "oauth_clients" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "oauth_clients_registered" ON "oauth_clients" USING btree ("registered_from","created_at");--> statement-breakpoint
CREATE INDEX "oauth_consents_client" ON "oauth_consents" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "oauth_consents_user" ON "oauth_consents" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_consents_reference" ON "oauth_consents" USING btree ("reference_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_client" ON "oauth_refresh_tokens" USING btree ("client_id","user_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_user" ON "oauth_refresh_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_session" ON "oauth_refresh_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_code" ON "oauth_refresh_tokens" USING btree ("authorization_code_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_reference" ON "oauth_refresh_tokens" USING btree ("reference_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_end" ON "oauth_refresh_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "staff_accounts_user" ON "staff_accounts" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "staff_passkeys_user" ON "staff_passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "staff_rate_limits_last" ON "staff_rate_limits" USING btree ("last_request");--> statement-breakpoint
CREATE INDEX "staff_sessions_user" ON "staff_sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "staff_sessions_end" ON "staff_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "staff_sign_in_failures_end" ON "staff_sign_in_failures" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "staff_tasks_open" ON "staff_tasks" USING btree ("id") WHERE "staff_tasks"."done_at" is null;--> statement-breakpoint
CREATE INDEX "staff_tasks_entity" ON "staff_tasks" USING btree ("entity","entity_id");--> statement-breakpoint
CREATE INDEX "staff_verifications_identifier" ON "staff_verifications" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "customer_notes_customer" ON "customer_notes" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "customers_search_text_trgm" ON "customers" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE UNIQUE INDEX "customers_number_lower" ON "customers" USING btree (lower("customer_number"));--> statement-breakpoint
CREATE INDEX "customers_email_lower" ON "customers" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "customers_name" ON "customers" USING btree (lower(left(coalesce(nullif("company", ''), btrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))), 100)),"id");--> statement-breakpoint
CREATE INDEX "customers_serial" ON "customers" USING btree ((substring("customer_number" from '^[Kk](\d{1,15})$')::bigint));--> statement-breakpoint
CREATE INDEX "customers_country" ON "customers" USING btree ("country","id");--> statement-breakpoint
CREATE INDEX "customers_not_active" ON "customers" USING btree ("status","id") WHERE "customers"."status" <> 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "merged_customers_number_lower" ON "merged_customers" USING btree (lower("customer_number"));--> statement-breakpoint
CREATE INDEX "merged_customers_customer" ON "merged_customers" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "merged_customers_serial" ON "merged_customers" USING btree ((substring("customer_number" from '^[Kk](\d{1,15})$')::bigint));--> statement-breakpoint
CREATE INDEX "stripe_customers_customer_id" ON "stripe_customers" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "stripe_customers_numbers" ON "stripe_customers" USING gin ((lower("numbers"::text)::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE "stripe_customers"."numbers" <> '[]';--> statement-breakpoint
CREATE INDEX "stripe_customers_recheck" ON "stripe_customers" USING btree ("stripe_customer_id") WHERE "stripe_customers"."recheck_at" is not null;--> statement-breakpoint
CREATE INDEX "stripe_customers_created" ON "stripe_customers" USING btree ("customer_id","stripe_customer_id") WHERE "stripe_customers"."linked_by" = 'created';--> statement-breakpoint
CREATE INDEX "stripe_customers_email" ON "stripe_customers" USING btree ("customer_id","stripe_customer_id") WHERE "stripe_customers"."linked_by" = 'email';--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_number_local" ON "invoices" USING btree ("number") WHERE "invoices"."stripe_invoice_id" is null;--> statement-breakpoint
CREATE INDEX "invoices_number" ON "invoices" USING btree ("number" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "invoices_number_end" ON "invoices" USING btree (reverse("number") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "invoices_date" ON "invoices" USING btree ("invoice_date","id");--> statement-breakpoint
CREATE INDEX "invoices_customer" ON "invoices" USING btree ("customer_id","invoice_date","id");--> statement-breakpoint
CREATE INDEX "invoices_status" ON "invoices" USING btree ("status","invoice_date","id");--> statement-breakpoint
CREATE INDEX "invoices_subscription" ON "invoices" USING btree ("subscription_id");--> statement-breakpoint
CREATE INDEX "invoices_unpaid_amount" ON "invoices" USING btree ("amount_due") WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
CREATE INDEX "invoices_unpaid_total" ON "invoices" USING btree ("total") WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
CREATE INDEX "invoices_unpaid_number" ON "invoices" USING gin ("number" gin_trgm_ops) WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
CREATE INDEX "invoices_due" ON "invoices" USING btree ("due_date") WHERE "invoices"."status" = 'sent';--> statement-breakpoint
CREATE INDEX "invoices_total" ON "invoices" USING btree ("total","id");--> statement-breakpoint
CREATE INDEX "invoices_overdue" ON "invoices" USING btree (coalesce("due_date", "invoice_date"),"id","currency","amount_due","due_date","invoice_date") WHERE "invoices"."status" = 'overdue';--> statement-breakpoint
CREATE INDEX "invoices_unpaid" ON "invoices" USING btree ("customer_id","currency","status","amount_due") WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
CREATE INDEX "invoices_open" ON "invoices" USING btree ("invoice_date","id") WHERE "invoices"."status" in ('sent', 'overdue');--> statement-breakpoint
CREATE INDEX "invoices_stripe" ON "invoices" USING btree ("id") WHERE "invoices"."stripe_invoice_id" is not null;--> statement-breakpoint
CREATE INDEX "invoices_stripe_customer" ON "invoices" USING btree ("stripe_customer_id");--> statement-breakpoint
CREATE INDEX "invoices_recheck" ON "invoices" USING btree ("id") WHERE "invoices"."recheck_at" is not null;--> statement-breakpoint
CREATE INDEX "sales_documents_number" ON "sales_documents" USING btree ("document_number" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "sales_documents_number_end" ON "sales_documents" USING btree (reverse("document_number") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "sales_documents_date" ON "sales_documents" USING btree ("document_date","id");--> statement-breakpoint
CREATE INDEX "sales_documents_total" ON "sales_documents" USING btree ("total","id");--> statement-breakpoint
CREATE INDEX "sales_documents_customer" ON "sales_documents" USING btree ("customer_id","document_date","id");--> statement-breakpoint
CREATE INDEX "sales_documents_status" ON "sales_documents" USING btree ("status","document_date","id");--> statement-breakpoint
CREATE INDEX "sales_documents_type" ON "sales_documents" USING btree ("type","document_date","id");--> statement-breakpoint
CREATE INDEX "sales_documents_type_status" ON "sales_documents" USING btree ("type","status","document_date","id");--> statement-breakpoint
CREATE INDEX "sales_documents_invoice" ON "sales_documents" USING btree ("converted_to_invoice_id");--> statement-breakpoint
CREATE INDEX "sales_documents_document" ON "sales_documents" USING btree ("converted_to_document_id");--> statement-breakpoint
CREATE INDEX "audit_log_entity" ON "audit_log" USING btree ("entity","entity_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_payment_customer" ON "audit_log" USING btree ((coalesce("after", "before") ->> 'customer_id'),"id") WHERE "audit_log"."entity" = 'payment' and "audit_log"."action" <> 'payment.create';--> statement-breakpoint
CREATE INDEX "imports_created" ON "imports" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "tool_calls_called" ON "tool_calls" USING btree ("called_at");--> statement-breakpoint
CREATE INDEX "tool_calls_customer" ON "tool_calls" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "tool_calls_caller" ON "tool_calls" USING btree ("caller","id");--> statement-breakpoint
CREATE INDEX "accounting_entries_booked" ON "accounting_entries" USING btree ("booked_on","id");--> statement-breakpoint
CREATE INDEX "accounting_entries_invoice" ON "accounting_entries" USING btree ("invoice_id");--> statement-breakpoint
CREATE INDEX "accounting_entries_payment" ON "accounting_entries" USING btree ("payment_id") WHERE "accounting_entries"."payment_id" is not null;--> statement-breakpoint
CREATE INDEX "disputes_payment" ON "disputes" USING btree ("payment_id","id");--> statement-breakpoint
CREATE INDEX "disputes_issued" ON "disputes" USING btree ("issued_at","id");--> statement-breakpoint
CREATE INDEX "disputes_open" ON "disputes" USING btree ("issued_at") WHERE "disputes"."status" not in ('won', 'lost', 'warning_closed', 'prevented');--> statement-breakpoint
CREATE INDEX "disputes_without_payment" ON "disputes" USING btree ("id") WHERE "disputes"."payment_id" is null;--> statement-breakpoint
CREATE INDEX "payments_date" ON "payments" USING btree ("payment_date","id");--> statement-breakpoint
CREATE INDEX "payments_customer" ON "payments" USING btree ("customer_id","payment_date","id");--> statement-breakpoint
CREATE INDEX "payments_invoice" ON "payments" USING btree ("invoice_id","payment_date","id");--> statement-breakpoint
CREATE INDEX "payments_status" ON "payments" USING btree ("status","payment_date","id");--> statement-breakpoint
CREATE INDEX "payments_amount" ON "payments" USING btree ("amount","id");--> statement-breakpoint
CREATE INDEX "payments_refunded_in_part" ON "payments" USING btree ("payment_date","id") WHERE "payments"."refunded_amount" > 0 and "payments"."refunded_amount" < "payments"."amount";--> statement-breakpoint
CREATE INDEX "payments_stripe_intent" ON "payments" USING btree ("stripe_payment_intent_id") WHERE "payments"."stripe_payment_intent_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_stripe_charge" ON "payments" USING btree ("stripe_charge_id") WHERE "payments"."stripe_charge_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_reference_trgm" ON "payments" USING gin ("payment_reference" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "refunds_payment" ON "refunds" USING btree ("payment_id","id");--> statement-breakpoint
CREATE INDEX "refunds_issued" ON "refunds" USING btree ("issued_at","id");--> statement-breakpoint
CREATE INDEX "refunds_open" ON "refunds" USING btree ("id") WHERE "refunds"."status" = 'pending' and "refunds"."stripe_refund_id" is not null;--> statement-breakpoint
CREATE INDEX "refunds_without_payment" ON "refunds" USING btree ("id") WHERE "refunds"."payment_id" is null;--> statement-breakpoint
CREATE INDEX "customer_services_number_prefix" ON "customer_services" USING btree ("service_number" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "customer_services_number_end" ON "customer_services" USING btree (reverse("service_number") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "customer_services_customer" ON "customer_services" USING btree ("customer_id","service_number");--> statement-breakpoint
CREATE INDEX "customer_services_status" ON "customer_services" USING btree ("status","service_number");--> statement-breakpoint
CREATE INDEX "customer_services_type" ON "customer_services" USING btree ("service_type","service_number");--> statement-breakpoint
CREATE INDEX "customer_services_type_status" ON "customer_services" USING btree ("service_type","status","service_number");--> statement-breakpoint
CREATE INDEX "customer_services_server" ON "customer_services" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "customer_services_next_billing" ON "customer_services" USING btree (coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "customer_services_status_billing" ON "customer_services" USING btree ("status",coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "customer_services_renewal" ON "customer_services" USING btree ("next_billing_date","id") WHERE "customer_services"."status" = 'active' and "customer_services"."ends_on" is null and "customer_services"."next_billing_date" is not null;--> statement-breakpoint
CREATE INDEX "customer_services_domain_trgm" ON "customer_services" USING gin ("domain" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "subscription_items_subscription" ON "subscription_items" USING btree ("subscription_id");--> statement-breakpoint
CREATE INDEX "subscription_items_service" ON "subscription_items" USING btree ("customer_service_id");--> statement-breakpoint
CREATE INDEX "subscriptions_customer" ON "subscriptions" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "subscriptions_status" ON "subscriptions" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "subscriptions_next_billing" ON "subscriptions" USING btree (coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "subscriptions_status_billing" ON "subscriptions" USING btree ("status",coalesce("next_billing_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "subscriptions_renewal" ON "subscriptions" USING btree ("next_billing_date","id") WHERE "subscriptions"."next_billing_date" is not null and "subscriptions"."cancel_at" is null and not "subscriptions"."cancel_at_period_end"
          and "subscriptions"."status" in ('trialing', 'active', 'past_due');--> statement-breakpoint
CREATE INDEX "subscriptions_stripe_customer" ON "subscriptions" USING btree ("stripe_customer_id");--> statement-breakpoint
CREATE INDEX "subscriptions_recheck" ON "subscriptions" USING btree ("id") WHERE "subscriptions"."recheck_at" is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_reference" ON "subscriptions" USING btree ("checkout_reference") WHERE "subscriptions"."checkout_reference" is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_stub" ON "subscriptions" USING btree ("id") WHERE "subscriptions"."is_stub";--> statement-breakpoint
CREATE INDEX "reconciliation_changes_run" ON "reconciliation_changes" USING btree ("run_id","id");--> statement-breakpoint
CREATE INDEX "reconciliation_changes_entity" ON "reconciliation_changes" USING btree ("entity","entity_id");--> statement-breakpoint
CREATE UNIQUE INDEX "reconciliation_failures_object" ON "reconciliation_failures" USING btree ("run_id","object","stripe_id");--> statement-breakpoint
CREATE INDEX "reconciliation_failures_open" ON "reconciliation_failures" USING btree ("object","stripe_id") WHERE "reconciliation_failures"."resolved_at" is null;--> statement-breakpoint
CREATE INDEX "reconciliation_runs_started" ON "reconciliation_runs" USING btree ("started_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "reconciliation_runs_one_running" ON "reconciliation_runs" USING btree ("status") WHERE "reconciliation_runs"."status" = 'running';--> statement-breakpoint
CREATE INDEX "stripe_events_created" ON "stripe_events" USING btree ("stripe_created","id");--> statement-breakpoint
CREATE INDEX "stripe_events_outcome" ON "stripe_events" USING btree ("outcome","stripe_created","id") WHERE "stripe_events"."outcome" <> 'processed';--> statement-breakpoint
CREATE INDEX "stripe_events_type" ON "stripe_events" USING btree ("type","stripe_created");--> statement-breakpoint
CREATE INDEX "stripe_events_object" ON "stripe_events" USING btree ("object_id","stripe_created");--> statement-breakpoint
CREATE INDEX "stripe_events_customer" ON "stripe_events" USING btree ("stripe_customer_id","stripe_created");--> statement-breakpoint
CREATE INDEX "stripe_events_retry" ON "stripe_events" USING btree ("id") WHERE "stripe_events"."outcome" in ('failed', 'unmatched');--> statement-breakpoint
CREATE INDEX "stripe_events_with_body" ON "stripe_events" USING btree ("stripe_created") WHERE "stripe_events"."payload" <> '';--> statement-breakpoint
CREATE INDEX "stripe_events_other_mode" ON "stripe_events" USING btree ("created_at") WHERE "stripe_events"."outcome" = 'ignored' and "stripe_events"."warnings" <> '[]';--> statement-breakpoint
-- Room on each page for the next version of a row: it then needs no new entry in any index.
ALTER TABLE "subscriptions" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "subscription_items" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "customer_services" SET (fillfactor = 90);--> statement-breakpoint
ALTER TABLE "invoices" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "stripe_customers" SET (fillfactor = 80);--> statement-breakpoint
-- Half the time of pglz; not every build of PostgreSQL has it.
DO $$ BEGIN
  ALTER TABLE "stripe_events" ALTER COLUMN "payload" SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
--> statement-breakpoint
-- Folded deltas are dead rows: cleared by how many there are, since almost none live.
ALTER TABLE "sum_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "invoice_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "payment_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "sales_document_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "service_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
-- Functions: f167c73579df8bdf66b8e10b2d700c140891d9f387226ffede3b7f2c83aa7343
