import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ReportedEvent } from '../../domain/calls/handle-event';
import type { Fields, Script } from './requests';

export type Weighted<T> = readonly (readonly [T, weight: number])[];

interface Exponential {
  least: number;
  mean_above: number;
}

interface Origin {
  state: string;
  /** Area code of its numbers. */
  area: string;
  zip: string;
}

/** How a lead ends; with `stays`, it remains in its schedule. */
export type LeadEnd = 'calls' | 'opts_out' | 'is_blocked' | 'is_removed' | 'stays';

export interface Day {
  calls: number;
  leads: number;
  by_hour: number[];
  midnight_utc_hour: number;
  under_way: { calls: number; patience: number; talk: number };
  offers: Weighted<Fields>;
  sources: Weighted<Fields>;
  origins: Weighted<Origin>;
  callers: {
    called_before_share: number;
    withheld_share: number;
    patience: Exponential;
    talk: Exponential;
  };
  rings: { least: number; most: number };
  answers: Weighted<ReportedEvent['event']>;
  captured: {
    first_names: string[];
    schedule_id: Fields;
    queued_every: number;
    queued_offer_id: Fields;
    call_offer: Fields;
    ends: Weighted<LeadEnd>;
    minutes: { least: number; most: number };
  };
  import: {
    fields: Fields;
    file_name: string;
    header: string;
    row: string;
    first: number;
    rows: number;
    rejected: string[];
  };
}

interface DemoData {
  company: Script;
  sandbox: Script;
  busy: Script;
  day: Day;
}

const FILE = join(__dirname, '../../../assets/demo.yaml');

let data: DemoData | undefined;
/** Requests are compared by identity: all readers get the same. */
export const loadDemoData = (): DemoData => (data ??= load(readFileSync(FILE, 'utf8')) as DemoData);
