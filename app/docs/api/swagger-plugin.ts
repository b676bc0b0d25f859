import type { ElementType } from 'react';
import { AuthorizationDialog } from './authorization-dialog';
import { withSamples } from './code-samples';
import { ReferenceLayout } from './reference-layout';
import type { System } from './swagger-system';

/** What we show in another way than Swagger UI does. */
export const plugin = {
  components: {
    ReferenceLayout,
    authorizationPopup: AuthorizationDialog,
    // A link within the button that opens the operation would be two things to click in one place.
    DeepLink: ({ text }: { text: string }) => text,
  },
  wrapComponents: { JsonSchemaForm: labelled, parameters: withSamples },
};

/** A parameter's field is named in another cell of its table only. */
function labelled(Field: ElementType, { React: { createElement: h } }: System) {
  return (props: { description: string }) => h('label', { 'aria-label': props.description }, h(Field, props));
}
