import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../api-error';
import { useAction } from '../loading';
import { Field, Problem } from '../parts/basics';

export interface AskedField {
  name: string;
  label: string;
  autocomplete: string;
  type?: 'password' | 'email';
  hint?: string;
  value?: string;
  is_optional?: boolean;
}

type Answers = Record<string, string>;

interface AskFormProps {
  fields: readonly AskedField[];
  submit: string;
  /** Empty fields are left out. */
  send: (answers: Answers) => Promise<unknown>;
  tone?: 'primary' | 'danger';
  children?: ComponentChildren;
}

/** A small form outside of the contract. Its inputs are read when it is sent, and stay nowhere. */
export function AskForm({ fields, submit, send, tone = 'primary', children }: AskFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { run, error, is_busy } = useAction(async () => {
    const inputs = [...new FormData(form.current!)] as [string, string][];
    await send(Object.fromEntries(inputs.filter(([, value]) => value !== '')));
    form.current?.reset();
  });
  const faults = error instanceof ApiError ? (error.problem?.errors ?? {}) : {};
  const hasPlace = fields.some(({ name }) => faults[name]);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [error]);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {children}
      {fields.map(({ name, is_optional: isOptional, value, ...field }) => (
        <Field
          key={name}
          name={name}
          spellcheck={false}
          required={!isOptional}
          defaultValue={value ?? ''}
          error={faults[name] && `It ${faults[name].join(', and ')}.`}
          {...field}
        />
      ))}
      {!hasPlace && <Problem error={explainLink(error)} />}
      <button class={tone} disabled={is_busy}>
        {submit}
      </button>
    </form>
  );
}

/** A refused token of a link is not an input: its fault is said as a sentence. */
export const explainLink = (error: unknown): unknown =>
  error instanceof ApiError && error.problem?.errors?.token
    ? new Error('This link was used already, was replaced by a newer one, or is too old.')
    : error;

export const NEW_PASSWORD: AskedField = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint:
    'At least 12 characters: several words are good. Not one that many people have, not your ' +
    'address or name, and not the company’s.',
};

export const EMAIL: AskedField = {
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'username',
};

export const CODE: AskedField = {
  name: 'code',
  label: 'Code',
  autocomplete: 'one-time-code',
  hint: 'The six digits that your app shows, or one of your recovery codes.',
};
