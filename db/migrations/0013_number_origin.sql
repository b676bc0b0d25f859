CREATE TYPE "public"."stripe_number_source" AS ENUM('customer', 'subscription', 'other');--> statement-breakpoint
ALTER TABLE "stripe_customers" ADD COLUMN "number_source" "stripe_number_source";--> statement-breakpoint
ALTER TABLE "stripe_customers" ADD COLUMN "number_told_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "stripe_customers" ADD COLUMN "number_told_by" text;