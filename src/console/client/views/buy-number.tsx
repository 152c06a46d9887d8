import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Dialog } from '../dialog';
import { count } from '../format';
import { useAction } from '../loading';
import { Field, Panel, Problem, Table, type Column } from '../parts/basics';
import { Select } from '../parts/select';
import { goTo, linkTo } from '../route';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';
import { NumberTarget, useNumberTarget } from './number-target';
import { PracticeNotice } from './practice-notice';

type Offered = Schemas['PhoneNumberSearchResult'];

const COUNTRIES = {
  US: 'United States',
  CA: 'Canada',
  GB: 'United Kingdom',
  AU: 'Australia',
} as const;

const KINDS = { false: 'Local', true: 'Toll-free' } as const;

interface Wish {
  country: keyof typeof COUNTRIES;
  toll_free: keyof typeof KINDS;
  prefix: string;
  query: string;
}

const PAGE_SIZE = 20;

/** A search among the numbers that the carrier sells, and the purchase of one of them. */
export function BuyNumber() {
  const { api } = useSession();
  const [wish, setWish] = useState<Wish>({
    country: 'US',
    toll_free: 'false',
    prefix: '',
    query: '',
  });
  const [page, setPage] = useState<{ rows: readonly Offered[]; number: number; total: number }>();
  const [chosen, setChosen] = useState<string>();
  const change = (part: Partial<Wish>) => setWish((before) => ({ ...before, ...part }));
  const search = useAction(async (number: number) => {
    const { country, toll_free: tollFree, prefix, query } = wish;
    const answer = await ok(
      api.GET('/phone_numbers/search', {
        params: {
          query: {
            country,
            toll_free: tollFree === 'true',
            ...(prefix.trim() !== '' && { prefix: prefix.trim() }),
            ...(query.trim() !== '' && { query: query.trim() }),
            page: number,
            per_page: PAGE_SIZE,
          },
        },
      }),
    );
    setPage({
      rows: answer.phone_number_search_results,
      number,
      total: answer.metadata.total_count,
    });
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void search.run(1);
  };
  return (
    <Panel title="Numbers for sale">
      <PracticeNotice />
      <form onSubmit={submit}>
        <WishFields wish={wish} change={change} />
        <Problem error={search.error} />
        <button class="primary" disabled={search.is_busy}>
          {search.is_busy ? 'Searching…' : 'Search'}
        </button>
      </form>
      {page && <Results {...page} isBusy={search.is_busy} turn={search.run} choose={setChosen} />}
      {chosen !== undefined && <Purchase number={chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  );
}

interface WishProps {
  wish: Wish;
  change: (part: Partial<Wish>) => void;
}

const WishFields = ({ wish, change }: WishProps) => (
  <div class="group-fields">
    <Select
      label="Country"
      choices={COUNTRIES}
      value={wish.country}
      onChange={(value) => change({ country: value as Wish['country'] })}
    />
    <Select
      label="Kind"
      choices={KINDS}
      value={wish.toll_free}
      onChange={(value) => change({ toll_free: value as Wish['toll_free'] })}
    />
    <Field
      label="Begins with"
      inputMode="tel"
      maxLength={30}
      placeholder="213"
      hint="An area code, or more digits."
      value={wish.prefix}
      onInput={(event) => change({ prefix: event.currentTarget.value })}
    />
    <Field
      label="Contains"
      inputMode="tel"
      maxLength={30}
      placeholder="777"
      value={wish.query}
      onInput={(event) => change({ query: event.currentTarget.value })}
    />
  </div>
);

interface ResultsProps {
  rows: readonly Offered[];
  number: number;
  total: number;
  isBusy: boolean;
  turn: (page: number) => Promise<void>;
  choose: (number: string) => void;
}

function Results({ rows, number, total, isBusy, turn, choose }: ResultsProps) {
  const columns: readonly Column<Offered>[] = [
    { name: 'Number', of: ({ phone_number: phone }) => phone },
    { name: 'Country', of: ({ country }) => country },
    { name: 'Price', of: () => 'that of your carrier' },
    {
      name: 'Buy',
      of: ({ phone_number: phone }) => (
        <button type="button" aria-label={`Buy ${phone}`} onClick={() => choose(phone!)}>
          Buy
        </button>
      ),
    },
  ];
  return (
    <>
      <p class="quiet" role="status">
        {count(total)} numbers. Nothing is reserved before it is bought.
      </p>
      <Table
        caption="Numbers for sale"
        columns={columns}
        rows={rows}
        getKey={({ phone_number: phone }) => phone!}
        empty="The carrier has no such number. Try fewer digits, or another area code."
      />
      {total > PAGE_SIZE && (
        <nav class="pages" aria-label="Pages">
          <button type="button" disabled={isBusy || number <= 1} onClick={() => turn(number - 1)}>
            Previous
          </button>
          <button
            type="button"
            disabled={isBusy || number * PAGE_SIZE >= total}
            onClick={() => turn(number + 1)}
          >
            Next
          </button>
        </nav>
      )}
    </>
  );
}

/** Asks where the calls go, and says that it costs money, before anything is bought. */
function Purchase({ number, onClose }: { number: string; onClose: () => void }) {
  const { transport } = useSession();
  const { target, change, toBody } = useNumberTarget();
  const buy = useAction(async () => {
    const body = { requested_number: number, ...toBody() };
    const { data } = await send(transport, 'POST', '/phone_numbers', { body });
    const { id } = data.number as Json;
    showToast(`${number} is yours.`);
    goTo(linkTo('phone_numbers', String(id)));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void buy.run();
  };
  return (
    <Dialog title={`Buy ${number}?`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          Your carrier charges you its price for the number until you release it: your contract with
          the carrier has it, the carrier does not say it here. Practice numbers are free.
        </p>
        <NumberTarget target={target} change={change} />
        <Problem error={buy.error} />
        <div class="actions">
          <button class="primary" disabled={buy.is_busy}>
            {buy.is_busy ? 'Buying…' : `Buy ${number}`}
          </button>
          <button type="button" disabled={buy.is_busy} onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
