/** Returns every permutation of a few items. */
export function orders<T>(of: T[]): T[][] {
  return of.length < 2
    ? [of]
    : of.flatMap((one, i) => orders(of.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}
