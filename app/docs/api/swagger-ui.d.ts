declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  import type { SwaggerConfigs } from 'swagger-ui-dist';
  import type { System } from './show-swagger-ui';

  export default function SwaggerUI(configs: SwaggerConfigs): { getSystem(): System };
}
