-- Country and VAT ID of accounting entries, settings of the export for DATEV, and PDF files of sales documents.
-- Functions: e8d6c04fb46abf2e4088b343b74cc3d52af4f9135220f4ed289886a13eb70da6
CREATE TABLE "accounting_settings" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"consultant_number" text,
	"client_number" text,
	"fiscal_year_month" integer DEFAULT 1 NOT NULL,
	"account_length" integer DEFAULT 4 NOT NULL,
	"accounts" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounting_settings_single" CHECK ("accounting_settings"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "sales_document_files" (
	"sales_document_id" integer PRIMARY KEY NOT NULL,
	"pdf" "bytea" NOT NULL,
	"pdf_sha256" text NOT NULL,
	"made_at" timestamp with time zone NOT NULL,
	CONSTRAINT "sales_document_files_size" CHECK (octet_length("sales_document_files"."pdf") <= 4194304)
);
--> statement-breakpoint
ALTER TABLE "accounting_entries" ADD COLUMN "customer_country" text;--> statement-breakpoint
ALTER TABLE "accounting_entries" ADD COLUMN "customer_vat_id" text;--> statement-breakpoint
ALTER TABLE "sales_document_files" ADD CONSTRAINT "sales_document_files_sales_document_id_sales_documents_id_fk" FOREIGN KEY ("sales_document_id") REFERENCES "public"."sales_documents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
UPDATE accounting_entries e SET customer_country = c.country, customer_vat_id = c.vat_id
	FROM invoices i, customers c WHERE i.id = e.invoice_id AND c.id = i.customer_id;
