import axe from 'axe-core';
import type { Page } from 'playwright';

/** The rules whose answer depends on colours. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe finds in a page, each with its places. @param runOnly the rules to check; all, unless told */
export async function violationsOf(page: Page, runOnly?: string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], runOnly });
  const found = await page.evaluate(`axe.run(document, ${options})`);
  const { violations } = found as { violations: { id: string; nodes: { target: string[] }[] }[] };
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
