import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders in the order of their files' durations; pages come once the build, which begins at once, has ended. */
const ORDER = ['/simulation/', '/http/', '/mcp/', '/e2e/', '/integration/', '/architecture', '/unit/'];

/** Runs long files before short ones, so that all workers end at about the same time. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => ORDER.findIndex((folder) => moduleId.includes(folder));
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
