import type { openApiDocument } from '@/lib/openapi/document';

export interface Operation {
  id: string;
  tag: string;
  method: string;
  summary: string;
}

/** The operations of the document, in its order. */
export function listOperations({ paths }: Pick<ReturnType<typeof openApiDocument>, 'paths'>): Operation[] {
  return Object.values(paths).flatMap((item) =>
    Object.entries(item as Record<string, unknown>).flatMap(([method, operation]) => {
      if (!isOperation(operation)) return [];
      const { operationId: id, summary, tags } = operation;
      return [{ id, tag: tags[0] ?? '', method: method.toUpperCase(), summary }];
    }),
  );
}

function isOperation(value: unknown): value is { operationId: string; summary: string; tags: string[] } {
  return typeof value === 'object' && value !== null && 'operationId' in value;
}
