import { currencyDecimals, fromMinorUnits, MAX_AMOUNT } from '../money';
import type { ProviderBilled } from './provider';
import { asInteger, asList, asObject, asText, type Json } from './read';

/**
 * What an item of a subscription is billed with, reported by its price or, in old API versions, by its plan.
 *
 * The amount is null where it does not follow from the price and the quantity alone: tiers, metered use,
 * packages, a price that includes its tax, or one that stands in another currency than the subscription.
 */
export function toBilled(item: Json, subscription: Json): ProviderBilled {
  const [price, plan] = [asObject(item.price), asObject(item.plan)];
  const terms = { ...plan, ...asObject(price.recurring) };
  const count = asInteger(terms.interval_count);
  const own = asText(price.currency) ?? asText(plan.currency);
  const currency = (asText(subscription.currency) ?? own)?.toLowerCase() ?? null;
  const isPlain =
    own?.toLowerCase() === currency &&
    terms.usage_type !== 'metered' &&
    [price, plan].every((one) => one.billing_scheme !== 'tiered' && one.tiers_mode == null) &&
    [price.transform_quantity, plan.transform_usage].every((transform) => transform == null) &&
    !includesTax(item, subscription);
  return {
    amount: isPlain && currency ? amountOf(item, currency) : null,
    currency,
    interval: asText(terms.interval),
    intervalCount: count !== null && count > 0 && count <= 1000 ? count : null,
  };
}

function includesTax(item: Json, subscription: Json): boolean {
  const own = asList(item.tax_rates);
  const rates = own.length > 0 ? own : asList(subscription.default_tax_rates);
  return (
    asObject(item.price).tax_behavior === 'inclusive' ||
    rates.some((rate) => asObject(rate).inclusive === true)
  );
}

function amountOf(item: Json, currency: string): string | null {
  const quantity = asInteger(item.quantity);
  const unit = item.price ? unitOf(asObject(item.price), 'unit_') : unitOf(asObject(item.plan), '');
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,12}))?$/.exec(unit) ?? [];
  if (quantity === null || quantity < 0 || whole === undefined) return null;
  const [scaled, scale] = [BigInt(whole + fraction) * BigInt(quantity), 10n ** BigInt(fraction.length)];
  const minor = scaled / scale;
  const fits = minor <= BigInt(MAX_AMOUNT) * 10n ** BigInt(currencyDecimals(currency));
  return fits && scaled % scale === 0n ? fromMinorUnits(Number(minor), currency) : null;
}

/** Minor units, with fractions where Stripe has them; Stripe's client gives decimals as objects. */
function unitOf(priced: Json, prefix: string): string {
  const value = priced[`${prefix}amount`] ?? priced[`${prefix}amount_decimal`];
  return value == null ? '' : String(value);
}
