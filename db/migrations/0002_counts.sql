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
CREATE TABLE "wrong_counts" (
	"list" text PRIMARY KEY NOT NULL,
	"noticed_at" timestamp with time zone DEFAULT now() NOT NULL
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
ALTER TABLE "customers" drop column "search_text";--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "search_text" text GENERATED ALWAYS AS (replace(lower(lower(normalize(E'
' || customer_number || E'
' || coalesce(email, '') || E'
' || coalesce(first_name, '') || ' ' || coalesce(last_name, '') || E'
' || coalesce(last_name, '') || E'
' || coalesce(company, ''))) collate "und-x-icu") collate "default", 'ß', 'ss')) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "customers_search_text_trgm" ON "customers" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "sales_documents_type_status" ON "sales_documents" USING btree ("type","status","document_date","id");--> statement-breakpoint
CREATE INDEX "customer_services_type_status" ON "customer_services" USING btree ("service_type","status","service_number");--> statement-breakpoint
-- Folded deltas are dead rows: cleared by how many there are, since almost none live.
ALTER TABLE "sum_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "invoice_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "payment_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "sales_document_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
ALTER TABLE "service_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
-- Functions: 97ba760f4be3a72a39ec260f28d382bbdfcc0605cf19df5bbec2f198fcaba270
