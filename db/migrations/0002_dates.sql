-- Lists by due date, validity and next billing date.
-- Functions: b5910444ce266ebf05e808545bb9dedd83c2d360e77e1ed6428efe03c77e7650
CREATE TABLE "billed_service_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "billed_service_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "billed_service_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "due_invoice_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "due_invoice_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "due_invoice_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "valid_document_blocks" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kind" text NOT NULL,
	"row_count" integer NOT NULL,
	CONSTRAINT "valid_document_blocks_kind_day_row_id_pk" PRIMARY KEY("kind","day","row_id")
);
--> statement-breakpoint
CREATE TABLE "valid_document_deltas" (
	"day" date NOT NULL,
	"row_id" integer NOT NULL,
	"kinds" text[] NOT NULL,
	"row_count" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "invoices_due_order" ON "invoices" USING btree (coalesce("due_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "invoices_status_due" ON "invoices" USING btree ("status",coalesce("due_date", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "sales_documents_valid" ON "sales_documents" USING btree (coalesce("valid_until", 'infinity'),"id");--> statement-breakpoint
CREATE INDEX "sales_documents_status_valid" ON "sales_documents" USING btree ("status",coalesce("valid_until", 'infinity'),"id");
--> statement-breakpoint
ALTER TABLE "due_invoice_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
--> statement-breakpoint
ALTER TABLE "valid_document_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
--> statement-breakpoint
ALTER TABLE "billed_service_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
--> statement-breakpoint
-- The functions have one parameter more, and each list has its own triggers.
DROP FUNCTION IF EXISTS keep_counts(text, text, text[], text[], text, text[]);
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_inserted ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_deleted ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_truncated ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updated ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updates ON "invoices";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_inserted ON "payments";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_deleted ON "payments";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_truncated ON "payments";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updated ON "payments";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updates ON "payments";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_inserted ON "sales_documents";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_deleted ON "sales_documents";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_truncated ON "sales_documents";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updated ON "sales_documents";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updates ON "sales_documents";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_inserted ON "customer_services";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_deleted ON "customer_services";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_truncated ON "customer_services";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updated ON "customer_services";
--> statement-breakpoint
DROP TRIGGER IF EXISTS count_updates ON "customer_services";
