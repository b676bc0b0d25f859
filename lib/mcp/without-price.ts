/** A service, or a sum of services, without what it costs. */
export function withoutPrice<Row extends Record<string, unknown>>({
  price: _,
  currency: __,
  price_total: ___,
  ...row
}: Row) {
  return row;
}
