import { useState } from 'preact/hooks';
import { findNoun } from '../contract';
import type { NounLayout } from '../nouns/layout';
import { linkTo } from '../route';
import { useSession } from '../session';
import { DataTable } from '../table/data-table';
import { sentence } from '../format';
import { mayDo } from './access';

/** The list of a noun: what it is for, a button for a new one, and the table. */
export function ListPage({ layout }: { layout: NounLayout }) {
  const session = useSession();
  const [version, setVersion] = useState(0);
  const noun = findNoun(session.contract, layout.noun);
  const { words, about } = layout;
  return (
    <>
      <div class="title">
        <h1>{sentence(words.plural)}</h1>
        {mayDo(session, noun, 'create') && layout.groups.length > 0 && (
          <a class="button primary" data-key="n" href={linkTo(layout.noun, 'new')}>
            New {words.singular}
          </a>
        )}
      </div>
      <p class="quiet">
        {about}
        {words.also && ` Elsewhere it is called ${words.also}.`}
      </p>
      {layout.listPanels?.map((Part, index) => (
        <Part key={index} reload={async () => setVersion((before) => before + 1)} />
      ))}
      <DataTable
        layout={layout}
        noun={noun}
        version={version}
        hasPages={noun.verbs.show !== undefined}
      />
    </>
  );
}
