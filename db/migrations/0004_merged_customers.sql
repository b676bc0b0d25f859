CREATE TABLE "merged_customers" (
	"id" integer PRIMARY KEY NOT NULL,
	"customer_number" text NOT NULL,
	"customer_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "merged_customers" ADD CONSTRAINT "merged_customers_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "merged_customers_number_lower" ON "merged_customers" USING btree (lower("customer_number"));--> statement-breakpoint
CREATE INDEX "merged_customers_customer" ON "merged_customers" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "merged_customers_serial" ON "merged_customers" USING btree ((substring("customer_number" from '^[Kk](\d{1,15})$')::bigint));
-- Functions: 8e6de3483943c22791c0708d658d575ba6a449444a93fe14e94c943574fe17d5
