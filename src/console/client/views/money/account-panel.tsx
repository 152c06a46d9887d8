import { findNoun } from '../../contract';
import { titleOf } from '../../form/references';
import { useLoaded } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Facts, Panel, Show } from '../../parts/basics';
import { useSession } from '../../session';
import { formatValue } from '../../table/format-value';
import { send, type Json } from '../../transport';
import { AccountButtons } from './account-buttons';
import { BUYERS, SOURCES, type Owners } from './owners';

export const BuyerAccount = (props: PanelProps) => <VisibleAccount owners={BUYERS} {...props} />;
export const SourceAccount = (props: PanelProps) => <VisibleAccount owners={SOURCES} {...props} />;

interface AccountProps extends PanelProps {
  owners: Owners;
}

const VisibleAccount = (props: AccountProps) =>
  useSession().may('account_entries:read') ? <Account {...props} /> : null;

/** The account of a record on its page: its balance, and the ways to enter and to bill. */
function Account({ owners, record: { id, updated_at: changedAt }, reload }: AccountProps) {
  const { transport, contract } = useSession();
  const { owner, noun: name, columns } = owners;
  const noun = findNoun(contract, name);
  // Limits hold for those who pay in advance alone.
  const listShown = (account: Json) =>
    columns.filter(
      (column) => column.name !== 'name' && (!column.isHidden || account.prepaid === true),
    );
  const loaded = useLoaded(async () => {
    const names = ['id', ...columns.map((column) => column.name)];
    const query = { ids: [String(id)], columns: names };
    const { data } = await send(transport, 'GET', `/${name}`, { query });
    return (data[noun.list_key] as Json[])[0];
  }, [id, changedAt]);
  return (
    <Panel title="Account">
      <Show of={loaded}>
        {(account) =>
          account && (
            <>
              <Facts
                facts={listShown(account).map(({ name: column, title, show }) => [
                  title!,
                  show ? show(account) : formatValue(column, noun.read[column], account[column]),
                ])}
              />
              <AccountButtons
                owner={owner}
                id={id}
                name={titleOf(account)}
                // Money decides whether the buyer gets calls, which the page says.
                onEntered={() => void Promise.all([loaded.reload(), reload()])}
              />
            </>
          )
        }
      </Show>
    </Panel>
  );
}
