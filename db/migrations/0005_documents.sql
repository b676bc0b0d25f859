-- Our company, the documents of issued invoices, and the tax category of each line.
CREATE TYPE "public"."tax_category" AS ENUM('S', 'Z', 'E', 'AE', 'G', 'O', 'K');--> statement-breakpoint
CREATE TABLE "company" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"name" text,
	"street" text,
	"postal_code" text,
	"city" text,
	"country" text,
	"vat_id" text,
	"tax_number" text,
	"register_entry" text,
	"small_business" boolean DEFAULT false NOT NULL,
	"contact_name" text,
	"contact_phone" text,
	"contact_email" text,
	"bank_name" text,
	"iban" text,
	"bic" text,
	"payment_terms" text,
	"footer" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "company_single" CHECK ("company"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "invoice_documents" (
	"invoice_id" integer PRIMARY KEY NOT NULL,
	"seller" jsonb NOT NULL,
	"buyer" jsonb NOT NULL,
	"pdf" "bytea",
	"xml" text,
	"pdf_sha256" text,
	"made_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invoice_documents_whole" CHECK (num_nulls("invoice_documents"."pdf", "invoice_documents"."xml", "invoice_documents"."pdf_sha256", "invoice_documents"."made_at") in (0, 4)),
	CONSTRAINT "invoice_documents_size" CHECK (octet_length("invoice_documents"."pdf") <= 4194304 and octet_length("invoice_documents"."xml") <= 4194304)
);
--> statement-breakpoint
ALTER TABLE "invoice_lines" ADD COLUMN "tax_category" "tax_category";--> statement-breakpoint
ALTER TABLE "sales_document_lines" ADD COLUMN "tax_category" "tax_category";--> statement-breakpoint
ALTER TABLE "invoice_documents" ADD CONSTRAINT "invoice_documents_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE cascade ON UPDATE no action;