import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

export interface Import {
  line: number;
  /** Path from the root if the file is ours, otherwise the specifier of the package, such as `next/headers`. */
  target: string;
}

export interface Source {
  /** Path from the root, such as `lib/money.ts`. */
  path: string;
  imports: Import[];
  tree: ts.SourceFile;
}

/** Parses these TypeScript files and all TypeScript files in these folders. */
export function readSources(paths: string[]): Source[] {
  const filesIn = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return paths
    .flatMap((path) => (/\.tsx?$/.test(path) ? [path] : filesIn(path)))
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(ROOT, path), 'utf8')));
}

/**
 * Parses the text of a source file.
 *
 * @param path path of the file from the root. The file does not have to exist
 */
export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  walk(tree, (node) => {
    const specifier = specifierOf(node);
    if (specifier) imports.push({ line: lineOf(tree, node), target: resolve(path, specifier.text) });
  });
  return { path, imports, tree };
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Returns the line of a node, counted from 1. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function specifierOf(node: ts.Node): ts.StringLiteral | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    specifier = node.argument.literal;
  else if (ts.isCallExpression(node) && ['import', 'require'].includes(node.expression.getText()))
    specifier = node.arguments[0];
  return specifier && ts.isStringLiteral(specifier) ? specifier : undefined;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('@/') && !specifier.startsWith('.')) return specifier;
  const path = specifier.startsWith('@/') ? specifier.slice(2) : normalize(join(dirname(from), specifier));
  const candidates = [`${path}.ts`, `${path}.tsx`, `${path}/index.ts`, path];
  return candidates.find((candidate) => existsSync(join(ROOT, candidate))) ?? path;
}
