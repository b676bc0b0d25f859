import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Path patterns in the order in which test files run. Files that need the production build come late, because the build
 * runs in the meantime. Otherwise the slowest files come first, so that all workers end at about the same time.
 */
const ORDER = [
  '/simulation/',
  'staff-accessibility.long',
  '/integration/',
  '/http/(?!both-ways)',
  '/mcp/',
  '/evaluation/',
  'staff-walls',
  'assistants',
  'staff-account',
  '/e2e/',
  'both-ways',
  '/unit/',
].map((part) => new RegExp(part));

/** Runs test files in the order of `ORDER`. Vitest itself could sort by duration only after a first run. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => ORDER.findIndex((part) => part.test(moduleId));
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
