-- The buyer reference, document language and payment terms of a customer, and the logo of our company.
CREATE TYPE "public"."document_language" AS ENUM('de', 'en');--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "buyer_reference" text;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "document_language" "document_language";--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "payment_terms" text;--> statement-breakpoint
ALTER TABLE "company" ADD COLUMN "logo" text;