import { useEffect, useRef, useState } from 'preact/hooks';
import { AREAS } from './areas';
import { Logo } from './logo';
import { docsLink, linkTo } from './route';
import type { Session } from './session';
import type { View } from './view';

interface MenuProps {
  session: Session;
  current: View | undefined;
  is_set_up: boolean;
}

/** All pages that the caller may see, by areas; the rarely used ones are folded. */
export function Menu({ session, current, is_set_up }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const areas = AREAS.map(({ title, views }) => ({
    title,
    views: views.filter(
      ({ name, is_hidden, may }) => !is_hidden && may(session) && !(name === 'start' && is_set_up),
    ),
  })).filter(({ views }) => views.length > 0);
  const [folds, fold] = useFolds();
  const isShort = areas.reduce((sum, { views }) => sum + views.length, 0) <= SHORT_MENU;
  useEffect(() => {
    const menu = box.current;
    const entry = menu?.querySelector('[aria-current]');
    if (!menu || !entry) return;
    const area = entry.closest('details');
    if (area) area.open = true;
    showEntry(menu, entry);
  }, [current?.name]);
  return (
    <div class="side" id="menu" ref={box}>
      <a class="brand" href="#/">
        <Logo /> Trunkline
      </a>
      <p class="quiet menu-company">{session.me.company.name}</p>
      <nav aria-label="Views">
        {areas.map(({ title, views }) => {
          const isCurrent = current !== undefined && views.includes(current);
          const isOpen = folds[title] ?? (isShort || DAILY.has(title));
          return (
            <details
              key={title}
              open={isOpen || isCurrent}
              onToggle={({ currentTarget: { open } }) => {
                // The area of this page is open in any case, which is not a choice.
                if (open !== isOpen && !isCurrent) fold(title, open);
              }}
            >
              <summary>
                <h2>{title}</h2>
              </summary>
              <ul>
                {views.map((view) => (
                  <li key={view.name}>
                    <a
                      href={linkTo(view.name)}
                      aria-current={view === current ? 'page' : undefined}
                    >
                      {view.title}
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          );
        })}
      </nav>
      <a class="quiet developers" href={docsLink()}>
        For developers: the API
      </a>
    </div>
  );
}

/** Scrolls by hand: after scrollIntoView(), the Tab key would go on from the entry. */
function showEntry(menu: Element, entry: Element): void {
  const [frame, { top, bottom }] = [menu.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (top < frame.top) menu.scrollTop += top - frame.top;
  else if (bottom > frame.bottom) menu.scrollTop += bottom - frame.bottom;
}

/** Areas of every day's work. */
const DAILY: ReadonlySet<string> = new Set(['Today', 'Routing']);
/** So many entries are in sight without folding anything. */
const SHORT_MENU = 20;

const STORAGE_KEY = 'trunkline.menu';

type Folds = Readonly<Record<string, boolean>>;

function readFolds(): Folds {
  try {
    return (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as Folds;
  } catch {
    return {};
  }
}

/** The areas that a person has opened and folded, remembered in this browser. */
function useFolds() {
  const [folds, setFolds] = useState(readFolds);
  const fold = (title: string, isOpen: boolean) => {
    const next = { ...folds, [title]: isOpen };
    localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
    setFolds(next);
  };
  return [folds, fold] as const;
}
