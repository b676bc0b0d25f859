import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';
import { ensureBuild } from './next-build';

/** Starts the build that the page tests need, and prints after the run how to repeat each failed test alone. */
export default class RunReporter implements Reporter {
  onTestRunStart(files: readonly TestSpecification[]): void {
    // The page tests wait for this build. If it fails, they build again and report the error.
    if (files.some(({ moduleId }) => moduleId.includes('/tests/e2e/'))) ensureBuild().catch(() => {});
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const failed = modules.flatMap((module) => [...module.children.allTests('failed')]);
    if (failed.length === 0) return;
    console.log('To run a failed test alone:');
    for (const test of new Set(failed.map(commandOf))) console.log(`  ${test}`);
  }
}

function commandOf({ module, fullName, project }: TestCase): string {
  const file = relative(process.cwd(), module.moduleId);
  // `-t` takes a regular expression over the names of the describe blocks and the test, joined by spaces.
  const name = fullName.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', '.*');
  const env = ['TEST_DATABASE_URL', 'TEST_POOLER', 'TEST_THROUGH']
    .filter((variable) => process.env[variable])
    .map((variable) => `${variable}=${process.env[variable]} `)
    .join('');
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  return `${env}npx vitest run --project ${project.name} ${file} -t ${quoted}`;
}
