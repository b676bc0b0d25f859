export function pick<T>(from: T[], at: number): T | undefined {
  return from[at % Math.max(1, from.length)];
}
