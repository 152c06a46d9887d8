import { useMemo, useState } from 'preact/hooks';
import { findNoun } from '../../contract';
import { titleOf } from '../../form/references';
import type { ColumnLayout } from '../../nouns/layout';
import { useSession } from '../../session';
import { DataTable } from '../../table/data-table';
import type { TableLayout } from '../../table/columns';
import type { Json } from '../../transport';
import { AccountButtons } from './account-buttons';
import { BUYERS, SOURCES, type Owners } from './owners';

export const AccountsView = () => <Accounts owners={BUYERS} />;
export const PayoutsView = () => <Accounts owners={SOURCES} />;

/** The owners of accounts, with what can be entered for each. */
function Accounts({ owners }: { owners: Owners }) {
  const { title, about, owner, noun, words, columns } = owners;
  const { contract } = useSession();
  const [version, setVersion] = useState(0);
  const layout = useMemo((): TableLayout => {
    const enter: ColumnLayout = {
      name: 'id',
      title: 'Enter and show',
      show: (record: Json) => (
        <AccountButtons
          owner={owner}
          id={record.id}
          name={titleOf(record)}
          onEntered={() => setVersion((before) => before + 1)}
        />
      ),
      needs: ['name'],
    };
    return { noun, words, title: titleOf, columns: [...columns, enter] };
  }, [owners]);
  return (
    <>
      <h1>{title}</h1>
      <p class="quiet">{about}</p>
      <DataTable layout={layout} noun={findNoun(contract, noun)} version={version} />
    </>
  );
}
