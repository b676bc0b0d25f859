export const DOCUMENT_PATH = '/api/openapi.json';
