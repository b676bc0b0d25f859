ALTER TYPE "public"."billing_interval" ADD VALUE 'half_year' BEFORE 'year';--> statement-breakpoint
ALTER TYPE "public"."billing_interval" ADD VALUE 'two_years' BEFORE 'once';--> statement-breakpoint
ALTER TYPE "public"."billing_interval" ADD VALUE 'three_years' BEFORE 'once';--> statement-breakpoint
ALTER TABLE "access_tokens" ADD COLUMN "hides_personal_data" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "shape" text;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "reading" jsonb;--> statement-breakpoint
ALTER TABLE "oauth_clients" ADD COLUMN "authorized_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "oauth_consents" ADD COLUMN "hides_personal_data" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_reference" ON "oauth_access_tokens" USING btree ("reference_id");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_consents_reference" ON "oauth_consents" USING btree ("reference_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_tokens_reference" ON "oauth_refresh_tokens" USING btree ("reference_id");--> statement-breakpoint
-- The scope that hid personal data is a property now. As text, since the migration that adds the value to the enum may
-- be part of the same transaction.
UPDATE "access_tokens" SET "hides_personal_data" = true WHERE 'without_personal_data' = ANY ("scopes"::text[]);--> statement-breakpoint
UPDATE "oauth_consents" SET "hides_personal_data" = true WHERE 'without_personal_data' = ANY ("scopes");--> statement-breakpoint
-- Clients that somebody has let in are kept, also once they are disconnected.
UPDATE "oauth_clients" c SET "authorized_at" = g.since
  FROM (SELECT "client_id", min("created_at") AS since FROM "oauth_consents" GROUP BY "client_id") g
  WHERE g."client_id" = c."client_id";
