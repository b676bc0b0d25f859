import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Parts of paths in the order in which files run. Those that need the production build come after it has been
 * made beside the others. Among them the longest comes first, so that all workers end at about the same time.
 */
const ORDER = [
  '/simulation/',
  '/integration/',
  '/http/(?!both-ways)',
  '/mcp/',
  'staff-accessibility',
  'assistants',
  'staff-walls',
  'staff-account',
  '/e2e/',
  'both-ways',
  '/unit/',
].map((part) => new RegExp(part));

/** Runs files in that order, which vitest would only know after a first run. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => ORDER.findIndex((part) => part.test(moduleId));
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
