-- Lines of Stripe's invoices.
-- Functions: 46b8c0c301f5c78b8fce43d2f0cff1c814b953968ede582e48e579b8cf1bd183
CREATE TABLE "stripe_invoice_lines" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "stripe_invoice_lines_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"invoice_id" integer NOT NULL,
	"position" integer NOT NULL,
	"description" text,
	"period_start" timestamp with time zone,
	"period_end" timestamp with time zone,
	"quantity" numeric,
	"amount" numeric(15, 3) NOT NULL,
	"discount" numeric(15, 3) NOT NULL,
	"taxes" jsonb NOT NULL,
	CONSTRAINT "stripe_invoice_lines_position" UNIQUE("invoice_id","position")
);
--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "lines_hash" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "lines_complete" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "stripe_invoice_lines" ADD CONSTRAINT "stripe_invoice_lines_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Migrations run in one transaction, where no index is built concurrently. This one takes about a second for two
-- million invoices, and writes wait for it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX "invoices_without_lines" ON "invoices" USING btree ("id") WHERE "invoices"."stripe_invoice_id" is not null and not "invoices"."lines_complete";