import { useRef } from 'preact/hooks';
import { withTag, type Schemas } from '../api';
import { Done, Facts, Panel, Problem, Show } from '../parts/basics';
import { Bar, listCaps, capTitle } from '../parts/caps';
import { Hours } from '../parts/hours';
import { dayTime, dollars, text } from '../format';
import { useAction, useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { BuyerForm, type FormProps } from './buyer-form';
import { BuyerState } from './buyers';
import { HoursForm } from './hours-form';

type Buyer = Schemas['Buyer'];

export function BuyerView({ id }: { id: string }) {
  const { api, may } = useSession();
  const path = { id };
  const loaded = useLoaded(() => withTag(api.GET('/buyers/{id}', { params: { path } })), [api, id]);
  useLive(({ kind, data }) => kind === 'cap' && String(data.buyer_id) === id, loaded.reload);
  /** The version that followed another by a change of this page. */
  const nextTags = useRef(new Map<string, string>());
  const change = async (body: Schemas['BuyerUpdate'], tag: string) => {
    let current = tag;
    while (nextTags.current.has(current)) current = nextTags.current.get(current)!;
    const header = { 'If-Match': current };
    const saved = await withTag(api.PUT('/buyers/{id}', { params: { path, header }, body }));
    if (saved.tag !== current) nextTags.current.set(current, saved.tag);
    // A change back gives an earlier version again, which is the last one now.
    nextTags.current.delete(saved.tag);
    await loaded.reload();
  };
  return (
    <>
      <p>
        <a href={linkTo('buyers')}>All buyers</a>
      </p>
      <Show of={loaded}>
        {({ data: { buyer }, tag }) => (
          <>
            <div class="title">
              <h1>{buyer.name ?? `Buyer ${buyer.id}`}</h1>
              <BuyerState buyer={buyer} />
              {may('buyers:update') && (
                <Pause buyer={buyer} reload={loaded.reload} change={(body) => change(body, tag)} />
              )}
            </div>
            <div class="grid">
              <Caps buyer={buyer} />
              <Panel title="Hours">
                <Hours entries={buyer.business_hours_schedule ?? []} zone={buyer.time_zone} />
              </Panel>
              <About buyer={buyer} />
              {may('buyers:update') && (
                <Forms buyer={buyer} tag={tag} reload={loaded.reload} save={change} />
              )}
            </div>
          </>
        )}
      </Show>
    </>
  );
}

const Forms = (props: FormProps) => (
  <>
    <BuyerForm {...props} />
    <HoursForm {...props} />
  </>
);

function Caps({ buyer }: { buyer: Buyer }) {
  const caps = listCaps(buyer);
  return (
    <Panel title="Used and left">
      {buyer.maxed_out_by && (
        <p class="notice bad">
          Gets no calls: {capTitle(buyer.maxed_out_by)} is used up
          {buyer.cap_reset_at && ` until ${dayTime(buyer.cap_reset_at)}`}.
        </p>
      )}
      {caps.length === 0 && <p class="quiet">This buyer has no limits.</p>}
      {caps.map((cap) => (
        <Bar key={cap.name} {...cap} />
      ))}
    </Panel>
  );
}

const About = ({ buyer }: { buyer: Buyer }) => (
  <Panel title="About">
    <Facts
      facts={[
        ['Number', text(buyer.number)],
        ['Pays for a call', dollars(buyer.bid_price)],
        ['Tier', text(buyer.tier)],
        ['Weight', text(buyer.weight)],
        ['Rings for', `${text(buyer.timeout_seconds)} s`],
        ['Last dialed', dayTime(buyer.last_call_at)],
        ['Only for', buyer.record_token_filter_data?.join(', ') || 'all calls'],
        ['Groups', buyer.buyer_group_names?.join(', ') || 'none'],
      ]}
    />
  </Panel>
);

interface PauseProps {
  buyer: Buyer;
  change: (body: Schemas['BuyerUpdate']) => Promise<void>;
  reload: () => void;
}

function Pause({ buyer, change, reload }: PauseProps) {
  const { run, is_busy, error, done } = useAction(async () => {
    await change({ paused: !buyer.paused });
    return buyer.paused ? 'It takes calls again.' : 'It is paused. Calls under way go on.';
  });
  return (
    <>
      <button type="button" disabled={is_busy} onClick={() => void run()}>
        {buyer.paused ? 'Resume' : 'Pause'}
      </button>
      <Problem error={error} onReload={reload} />
      <Done text={done} />
    </>
  );
}
