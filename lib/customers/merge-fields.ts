import type { customers } from '@/db/schema';

/** The fields of which the customer that stays may take over those of the other. */
const MERGED_FIELDS = [
  'company',
  'first_name',
  'last_name',
  'email',
  'phone',
  'street',
  'postal_code',
  'city',
  'country',
  'vat_id',
  'tax_exempt',
  'currency',
  'status',
] as const;
export type MergedField = (typeof MERGED_FIELDS)[number];

type Fields = Pick<typeof customers.$inferSelect, MergedField>;

/** The fields in which two customers differ, and the one that goes has something that could be taken over. */
export function differingFields(kept: Fields, gone: Fields): MergedField[] {
  return MERGED_FIELDS.filter(
    (field) => gone[field] !== null && gone[field] !== '' && gone[field] !== kept[field],
  );
}
