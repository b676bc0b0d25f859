CREATE TABLE "imported_refunds" (
	"reference" text PRIMARY KEY NOT NULL,
	"payment_id" integer NOT NULL,
	"amount" numeric(15, 3) NOT NULL,
	"refund_date" date NOT NULL
);
--> statement-breakpoint
ALTER TABLE "draft_import_keys" ALTER COLUMN "import_key" SET DEFAULT 'draft-' || gen_random_uuid();--> statement-breakpoint
ALTER TABLE "imported_refunds" ADD CONSTRAINT "imported_refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
INSERT INTO "draft_import_keys" ("invoice_id")
  SELECT "id" FROM "invoices" WHERE "status" = 'draft' AND "stripe_invoice_id" IS NULL
  ON CONFLICT ("invoice_id") DO NOTHING;
-- Functions: 171e9e02db37ea861f5e5303763c211a20019634f506454efadee03b21beb924
