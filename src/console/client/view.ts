import type { ComponentChild } from 'preact';
import type { Session } from './session';

/** A page of the console. */
export interface View {
  name: string;
  title: string;
  may: (session: Session) => boolean;
  list: () => ComponentChild;
  detail?: (id: string) => ComponentChild;
  /** Not in the menu: another page leads to it. */
  is_hidden?: true;
}
