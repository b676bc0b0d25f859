declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  import type { SwaggerConfigs } from 'swagger-ui-dist';
  import type { System } from './swagger-system';

  export default function SwaggerUI(configs: SwaggerConfigs): { getSystem(): System };
}
