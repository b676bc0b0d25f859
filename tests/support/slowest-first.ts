import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders in the order of their files' durations. Pages wait for the build, which begins with the first files. */
const ORDER = [
  'tests/simulation/',
  'tests/mcp/',
  'tests/http/',
  'tests/e2e/',
  'tests/integration/',
  'tests/unit/',
];

/** Runs long files before short ones, so that both workers end at about the same time. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => ORDER.findIndex((folder) => moduleId.includes(folder));
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
