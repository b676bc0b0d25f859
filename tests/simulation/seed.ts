/** The seed of one history of a campaign. */
export function seedOf(campaign: number, at: number): number {
  return (Math.imul(campaign, 1_000_003) + at) | 0;
}
