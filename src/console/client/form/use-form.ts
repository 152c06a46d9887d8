import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fields } from '../../noun-contract';
import { ApiError } from '../api';
import { currentPath } from '../route';
import { showToast } from '../toast';
import type { Json } from '../transport';
import { buildDraft, pickValues, registerForm, resumeDraft, takeDraft, type Draft } from './drafts';
import {
  findFault,
  groupFaults,
  isEqual,
  listChanges,
  mergeChanges,
  toBody,
  toInputs,
  type Clash,
  type Reads,
  type Values,
} from './model';

interface FormOptions {
  /** Tells a form from others for the same record that have the same fields. */
  name?: string;
  fields: Fields;
  reads: Reads | undefined;
  /** The stored record, or the defaults of a new one. */
  record: Json;
  tag: string;
  /** Values of a new record that are sent without being typed. */
  presets?: Values;
  /** Sends the changed fields; gives the record as it is now stored. */
  save: (body: Json, tag: string) => Promise<{ record: Json; tag: string }>;
  /** The record as it is now, after somebody else changed it. */
  loadLatest: () => Promise<{ record: Json; tag: string }>;
}

/** Faults by field, and what is wrong with the whole. */
interface Refusal {
  errors: Readonly<Record<string, readonly string[]>>;
  error?: unknown;
}
const NO_REFUSAL: Refusal = { errors: {} };

const CORRECT = 'Please correct the marked fields.';

const findFaults = (fields: Fields, inputs: Values, names: readonly string[]) =>
  names.flatMap((name): [string, string[]][] => {
    const fault = findFault(fields[name]!, inputs[name]);
    return fault === undefined ? [] : [[name, [fault]]];
  });

/** The faults at their fields, and the error for the whole form where others are left. */
function describeRefusal(reason: unknown, fields: Fields): Refusal {
  const problem = reason instanceof ApiError ? reason.problem : undefined;
  const { byField, others } = groupFaults(problem?.errors ?? {}, fields);
  const isAtFields = Object.keys(byField).length > 0 && others.length === 0;
  // A fault that stands at its field is not said twice.
  return { errors: byField, error: isAtFields ? new Error(CORRECT) : reason };
}

const listRequired = (fields: Fields): string[] =>
  Object.keys(fields).filter((name) => fields[name]!.required);

interface Stored {
  record: Json;
  tag: string;
}

const buildDraftKey = ({ name, fields, record }: FormOptions): string =>
  [currentPath(), record.id ?? 'new', name ?? Object.keys(fields).join()].join(' ');

/** The inputs of a form: those of its record, with presets, what is typed, and what was. */
function useInputs(options: FormOptions, base: Values) {
  const { fields, presets = {} } = options;
  const [resumed] = useState(() => {
    const draft = takeDraft(buildDraftKey(options));
    return draft && resumeDraft(draft, base);
  });
  const [typed, setTyped] = useState<Values>({ ...presets, ...resumed?.typed });
  const inputs: Values = { ...base, ...typed };
  const changes = listChanges(base, inputs);
  /** Without presets, which no person has typed. */
  const written = changes.filter((name) => !isEqual(inputs[name], presets[name]));
  const latest = useRef<Draft>();
  latest.current = buildDraft(fields, base, pickValues(inputs, written));
  useEffect(() => {
    if (resumed) showToast('Your changes are back. They are not saved yet.');
    const key = buildDraftKey(options);
    return registerForm(() => [key, latest.current!]);
  }, []);
  return { inputs, changes, written, setTyped, resumedClash: resumed?.clash };
}

interface Changes {
  base: Values;
  inputs: Values;
  changes: readonly string[];
  tag: string;
}

/** Other parts of a page change its record too: where no field differs, it is sent again. */
async function saveChanges(options: FormOptions, form: Changes): Promise<Stored> {
  const { fields, reads, save, loadLatest } = options;
  const { base, inputs, changes, tag } = form;
  const body = toBody(fields, inputs, changes);
  try {
    return await save(body, tag);
  } catch (reason) {
    if (!(reason instanceof ApiError && reason.isOutdated)) throw reason;
    const latest = await loadLatest();
    const now = toInputs(fields, latest.record, reads);
    const { theirs, conflicts } = mergeChanges(base, inputs, now);
    if (theirs.length + conflicts.length > 0) throw reason;
    return save(body, latest.tag);
  }
}

/** State of a form: inputs, changes, faults, and the merge with the changes of others. */
export function useForm(options: FormOptions) {
  const { fields, reads, record, tag, loadLatest } = options;
  const [stored, setStored] = useState<Stored>({ record, tag });
  const base = useMemo(() => toInputs(fields, stored.record, reads), [fields, stored]);
  const { inputs, changes, written, setTyped, resumedClash } = useInputs(options, base);
  const [refusal, setRefusal] = useState<Refusal>(NO_REFUSAL);
  const [clash, setClash] = useState<Clash | undefined>(resumedClash);
  const [isBusy, setBusy] = useState(false);

  // The page has loaded the record again: shown at once, unless somebody is typing.
  if (changes.length === 0 && !isBusy && tag !== stored.tag && !isEqual(record, stored.record))
    setStored({ record, tag });

  const change = (name: string, value: unknown) => {
    setTyped((before) => ({ ...before, [name]: value }));
    setRefusal(({ errors }) => ({ errors: { ...errors, [name]: [] } }));
  };
  const reset = () => {
    setTyped({});
    setRefusal(NO_REFUSAL);
    setClash(undefined);
  };
  const merge = async () => {
    const latest = await loadLatest();
    const merged = mergeChanges(base, inputs, toInputs(fields, latest.record, reads));
    setStored(latest);
    setTyped(merged.inputs);
    setClash(merged);
  };
  /** True when it was stored. */
  const submit = async (): Promise<boolean> => {
    const needed = stored.record.id === undefined ? listRequired(fields) : [];
    const faults = findFaults(fields, inputs, [...new Set([...changes, ...needed])]);
    if (faults.length > 0) {
      setRefusal({ errors: Object.fromEntries(faults), error: new Error(CORRECT) });
      return false;
    }
    setBusy(true);
    try {
      const saved = await saveChanges(options, { base, inputs, changes, tag: stored.tag });
      setStored(saved);
      reset();
      return true;
    } catch (reason) {
      if (reason instanceof ApiError && reason.isOutdated)
        await merge().catch((fault: unknown) => setRefusal(describeRefusal(fault, fields)));
      else setRefusal(describeRefusal(reason, fields));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return {
    inputs,
    changes,
    written,
    ...refusal,
    clash,
    is_busy: isBusy,
    record: stored.record,
    change,
    reset,
    submit,
    /** Decides about a field that both changed. */
    settle: (name: string, isMine: boolean) => {
      if (!isMine) setTyped((before) => ({ ...before, [name]: base[name] }));
      setClash((before) => before && withoutConflict(before, name));
    },
    dismissClash: () => setClash(undefined),
  };
}

export type Form = ReturnType<typeof useForm>;

const withoutConflict = ({ theirs, conflicts }: Clash, name: string): Clash => ({
  theirs,
  conflicts: conflicts.filter((conflict) => conflict.name !== name),
});
