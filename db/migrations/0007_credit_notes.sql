-- Credit notes and cancellations of our own invoices, with their documents.
-- Functions: 0172dbefd8cdb0c521ee1e8d1f7c369ebabf8d98f5419b469059cec5932ac727
CREATE TYPE "public"."credit_note_kind" AS ENUM('cancellation', 'credit_note');--> statement-breakpoint
CREATE TABLE "credit_note_lines" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "credit_note_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"position" integer NOT NULL,
	"text" text NOT NULL,
	"quantity" numeric(12, 3) NOT NULL,
	"unit_price" numeric(15, 3) NOT NULL,
	"tax_rate" numeric(5, 2) NOT NULL,
	"tax_category" "tax_category",
	"credit_note_id" integer NOT NULL,
	"invoice_position" integer NOT NULL,
	CONSTRAINT "credit_note_lines_position" UNIQUE("credit_note_id","position")
);
--> statement-breakpoint
CREATE TABLE "credit_notes" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "credit_notes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"number" text NOT NULL,
	"kind" "credit_note_kind" NOT NULL,
	"invoice_id" integer NOT NULL,
	"customer_id" integer NOT NULL,
	"date" date NOT NULL,
	"currency" text DEFAULT 'eur' NOT NULL,
	"subtotal" numeric(15, 3) NOT NULL,
	"tax" numeric(15, 3) NOT NULL,
	"total" numeric(15, 3) NOT NULL,
	"rates" jsonb NOT NULL,
	"reason" text,
	"seller" jsonb,
	"buyer" jsonb,
	"pdf" "bytea",
	"xml" text,
	"pdf_sha256" text,
	"made_at" timestamp with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credit_notes_number_unique" UNIQUE("number"),
	CONSTRAINT "credit_notes_amounts" CHECK ("credit_notes"."total" >= 0 and "credit_notes"."total" = "credit_notes"."subtotal" + "credit_notes"."tax"),
	CONSTRAINT "credit_notes_currency_iso" CHECK ("credit_notes"."currency" ~ '^[a-z]{3}$'),
	CONSTRAINT "credit_notes_whole" CHECK (num_nulls("credit_notes"."pdf", "credit_notes"."xml", "credit_notes"."pdf_sha256", "credit_notes"."made_at") in (0, 4)),
	CONSTRAINT "credit_notes_size" CHECK (octet_length("credit_notes"."pdf") <= 4194304 and octet_length("credit_notes"."xml") <= 4194304)
);
--> statement-breakpoint
ALTER TABLE "accounting_entries" ADD COLUMN "credit_note_number" text;--> statement-breakpoint
ALTER TABLE "credit_note_lines" ADD CONSTRAINT "credit_note_lines_credit_note_id_credit_notes_id_fk" FOREIGN KEY ("credit_note_id") REFERENCES "public"."credit_notes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credit_notes" ADD CONSTRAINT "credit_notes_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "credit_notes_number" ON "credit_notes" USING btree ("number" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "credit_notes_invoice" ON "credit_notes" USING btree ("invoice_id","id");--> statement-breakpoint
CREATE INDEX "credit_notes_customer" ON "credit_notes" USING btree ("customer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "credit_notes_date" ON "credit_notes" USING btree ("date","id");--> statement-breakpoint
CREATE UNIQUE INDEX "credit_notes_cancellation" ON "credit_notes" USING btree ("invoice_id") WHERE "credit_notes"."kind" = 'cancellation';