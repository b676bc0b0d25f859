CREATE TABLE "merged_customers" (
	"id" integer PRIMARY KEY NOT NULL,
	"customer_number" text NOT NULL,
	"customer_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "imported_refunds" (
	"reference" text PRIMARY KEY NOT NULL,
	"payment_id" integer NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"refund_date" date NOT NULL
);
--> statement-breakpoint
ALTER TABLE "draft_import_keys" ALTER COLUMN "import_key" SET DEFAULT 'draft-' || gen_random_uuid();--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "erased_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "stripe_events" ADD COLUMN "checkout" jsonb;--> statement-breakpoint
ALTER TABLE "merged_customers" ADD CONSTRAINT "merged_customers_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imported_refunds" ADD CONSTRAINT "imported_refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "merged_customers_number_lower" ON "merged_customers" USING btree (lower("customer_number"));--> statement-breakpoint
CREATE INDEX "merged_customers_customer" ON "merged_customers" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "merged_customers_serial" ON "merged_customers" USING btree ((substring("customer_number" from '^[Kk](\d{1,15})$')::bigint));--> statement-breakpoint
CREATE INDEX "stripe_events_with_body" ON "stripe_events" USING btree ("stripe_created") WHERE "stripe_events"."payload" <> '';--> statement-breakpoint
INSERT INTO "draft_import_keys" ("invoice_id")
  SELECT "id" FROM "invoices" WHERE "status" = 'draft' AND "stripe_invoice_id" IS NULL
  ON CONFLICT ("invoice_id") DO NOTHING;
-- Functions: 1c639941a6c67bbe46b7074efaf77b91fa6abb695e290717fc389a97adb3c3a8
