import type * as React from 'react';

export interface SecurityScheme {
  description: string;
}

/** The part of Swagger UI's interface that our plugins and components use. */
export interface System {
  /** The React that Swagger UI carries: elements of another are not rendered. */
  React: typeof React;
  /** @param connected whether the component is given the system, and rendered anew when its state changes */
  getComponent(name: string, connected: true): React.ElementType;
  specSelectors: {
    selectInfoDescriptionField(): string;
    /** The document, as one of Immutable's maps. */
    specJson(): { getIn(path: string[]): { toJS(): never } | undefined };
  };
  layoutActions: { show(what: string[], shown: boolean): void };
  authSelectors: {
    /** The schemes to be asked for now, by name. */
    shownDefinitions(): { toJS(): Record<string, SecurityScheme>[] };
    authorized(): { has(scheme: string): boolean };
  };
  authActions: {
    showDefinitions(shown: false): void;
    authorize(credentials: Record<string, { schema: SecurityScheme; value: string }>): void;
    logout(schemes: string[]): void;
  };
}
