import { isNode, listNodes, walk, type Names, type Node, type Value } from './analyzed-sql';

// Checks of what a distributed PostgreSQL, whose rows are sharded by company_id, must know of a
// statement to run it on one shard.

/** A rule that a statement breaks. */
export interface Fault {
  /**
   * company: a table is read or written without a limit to the company of the request; locks: such
   * a table, and rows are locked; mutable: a function that is not immutable is called in CASE or
   * COALESCE by a query that writes; volatile: an UPDATE or DELETE calls such a function.
   */
  rule: 'company' | 'locks' | 'mutable' | 'volatile';
  /** The table or the function. */
  name: string;
}

export interface Write {
  table: string;
  columns: string[];
  operation: 'update' | 'insert' | 'delete';
}

export interface Findings {
  faults: Fault[];
  writes: Write[];
  /** The functions that it calls. */
  calls: Set<string>;
}

const COMPANY = 'company';

/** Tables that every node of a cluster has: they are found without knowing the company. */
const REPLICATED_TABLES = new Set([
  'credential_lookups',
  'inbound_webhook_lookups',
  'lead_tokens',
  'number_lookups',
]);

/** Kinds of entries of a query's table of ranges. */
const KIND = { relation: '0', subquery: '1', join: '2', values: '5', cte: '6', group: '9' };
const OPERATIONS: Record<string, Write['operation']> = { 2: 'update', 3: 'insert', 4: 'delete' };
const ANY_SUBLINK = '2';

/** For each column that a query returns: true if it is the company of the request. */
type Outputs = readonly boolean[] | 'all';

/** A query, with what is known of it from outside. */
interface Level {
  query: Node;
  ranges: Node[];
  ctes: Map<string, Outputs>;
  outer: Level | undefined;
  /** Columns that are equal, as `range:column`; COMPANY is the company of the request. */
  equal: Map<string, string>;
}

/** Checks the tree of a statement; `parameters` are the names of $1, $2 and so on. */
export function collectFindings(tree: Node, parameters: readonly string[], names: Names): Findings {
  const findings: Findings = { faults: [], writes: [], calls: new Set() };
  let locks = false;
  walk(tree, (node) => {
    if (node.type === 'FUNCEXPR')
      findings.calls.add(names.functions.get(String(node.funcid))!.name);
    if (node.type === 'ROWMARKCLAUSE') locks = true;
    if (node.type === 'QUERY' && node.commandType !== '1') inspectWrite(node, names, findings);
    return true;
  });
  const checker = new CompanyChecker(parameters, names);
  checker.check(tree, undefined, (name) => findings.faults.push({ rule: 'company', name }));
  if (locks && findings.faults.some(({ rule }) => rule === 'company'))
    findings.faults.push({ rule: 'locks', name: 'FOR UPDATE or SHARE' });
  return findings;
}

/** The parts of a query, without the queries that it reads. */
const listParts = (query: Node): Value[] =>
  Object.entries(query).flatMap(([name, value]) =>
    name === 'rtable' || name === 'cteList' ? [] : [value],
  );

/** Records the writes of a query, and the functions that it calls where it may not. */
function inspectWrite(query: Node, { tables, functions }: Names, findings: Findings): void {
  const range = listNodes(query.rtable)[Number(query.resultRelation) - 1]!;
  const entries = [
    ...listNodes(query.targetList),
    ...(isNode(query.onConflict) ? listNodes(query.onConflict.onConflictSet) : []),
  ];
  findings.writes.push({
    // A temporary table has no name here.
    table: tables.get(String(range.relid))?.name ?? '',
    columns: entries.flatMap(({ resname }) => (typeof resname === 'string' ? resname : [])),
    operation: OPERATIONS[String(query.commandType)]!,
  });
  const calledIn = (value: Value, report: (name: string, volatility: string) => void) =>
    walk(value, (node) => {
      const called = functions.get(String(node.funcid ?? node.opfuncid));
      if (called) report(called.name, called.volatility);
      return node.type !== 'QUERY';
    });
  for (const value of listParts(query)) {
    if (OPERATIONS[String(query.commandType)] !== 'insert')
      calledIn(value, (name, volatility) => {
        if (volatility === 'volatile') findings.faults.push({ rule: 'volatile', name });
      });
    walk(value, (node) => {
      if (node.type === 'CASEEXPR' || node.type === 'COALESCEEXPR')
        calledIn(node, (name, volatility) => {
          if (volatility !== 'immutable') findings.faults.push({ rule: 'mutable', name });
        });
      return node.type !== 'QUERY';
    });
  }
}

/** Finds the tables of a statement that are not limited to the company of the request. */
class CompanyChecker {
  constructor(
    private readonly parameters: readonly string[],
    private readonly names: Names,
  ) {}

  /** Checks a query, and says of each column that it returns whether it is the company. */
  check(query: Node, outer: Level | undefined, report: (table: string) => void): Outputs {
    const ranges = listNodes(query.rtable);
    const level: Level = { query, ranges, ctes: new Map(), outer, equal: new Map() };
    for (const cte of listNodes(query.cteList)) level.ctes.set(String(cte.ctename), 'all');
    for (const cte of listNodes(query.cteList))
      level.ctes.set(String(cte.ctename), this.check(cte.ctequery as Node, level, report));
    const joined = new Set<number>();
    this.readJoins(query.jointree, level, joined);
    this.readInserted(level);
    for (const [n, range] of ranges.entries())
      for (const [column, isCompany] of this.readOutputs(range, level).entries())
        if (isCompany) this.unite(level, `${n + 1}:${column + 1}`, COMPANY);
    for (const [n, range] of ranges.entries()) {
      if (range.rtekind === KIND.subquery) this.check(range.subquery as Node, level, report);
      const table = this.names.tables.get(String(range.relid));
      if (range.rtekind !== KIND.relation || table?.company === undefined) continue;
      if (REPLICATED_TABLES.has(table.name)) continue;
      // EXCLUDED of a conflict is no table that is read.
      if (!joined.has(n + 1) && Number(query.resultRelation) !== n + 1) continue;
      if (!this.isCompany(level, `${n + 1}:${table.company}`)) report(table.name);
    }
    this.checkSublinks(level, report);
    return this.returned(level);
  }

  /** Collects the ranges that are joined, and which of their columns are equal. */
  private readJoins(tree: Value | undefined, level: Level, joined: Set<number>): void {
    if (Array.isArray(tree)) for (const item of tree) this.readJoins(item, level, joined);
    if (!isNode(tree)) return;
    if (tree.type === 'RANGETBLREF') joined.add(Number(tree.rtindex));
    for (const part of [tree.fromlist, tree.larg, tree.rarg]) this.readJoins(part, level, joined);
    this.readConditions(tree.quals, level);
  }

  /** A new row has the columns that are inserted. */
  private readInserted(level: Level): void {
    const { commandType, resultRelation, targetList } = level.query;
    if (OPERATIONS[String(commandType)] !== 'insert') return;
    for (const { expr, resno } of listNodes(targetList)) {
      const column = this.resolveColumn(expr as Node, level);
      if (column) this.unite(level, `${String(resultRelation)}:${String(resno)}`, column);
    }
  }

  private readConditions(condition: Value | undefined, level: Level): void {
    if (!isNode(condition)) return;
    if (condition.type === 'BOOLEXPR' && condition.boolop === 'and')
      for (const argument of listNodes(condition.args)) this.readConditions(argument, level);
    if (condition.type === 'OPEXPR' && this.names.equals.has(String(condition.opno))) {
      const [a, b] = listNodes(condition.args).map((side) => this.resolveColumn(side, level));
      if (a && b) this.unite(level, a, b);
    }
    if (condition.type === 'SUBLINK' && condition.subLinkType === ANY_SUBLINK)
      this.readMembership(condition, level);
  }

  /** `(a, b) IN (SELECT …)`: each is equal to a column of the query. */
  private readMembership({ testexpr, subselect }: Node, level: Level): void {
    const outputs = this.check(subselect as Node, level, () => undefined);
    walk(testexpr, (node) => {
      if (node.type !== 'OPEXPR') return true;
      const [side, returned] = listNodes(node.args);
      const column = side && this.resolveColumn(side, level);
      if (column && outputs !== 'all' && outputs[Number(returned!.paramid) - 1])
        this.unite(level, column, COMPANY);
      return false;
    });
  }

  /** The column that an expression is, or COMPANY. */
  private resolveColumn(expression: Node, level: Level): string | undefined {
    const { type } = expression;
    if (type === 'RELABELTYPE') return this.resolveColumn(expression.arg as Node, level);
    if (type === 'PARAM')
      return this.parameters[Number(expression.paramid) - 1] === 'company_id' &&
        expression.paramkind === '0'
        ? COMPANY
        : undefined;
    if (type !== 'VAR') return undefined;
    const levelsUp = Number(expression.varlevelsup);
    if (levelsUp > 0) {
      let at: Level = level;
      for (let up = 0; up < levelsUp; up++) at = at.outer!;
      const column = this.resolveColumn({ ...expression, varlevelsup: '0' }, at);
      return column && this.isCompany(at, column) ? COMPANY : undefined;
    }
    const range = level.ranges[Number(expression.varno) - 1]!;
    const shown = { [KIND.join]: range.joinaliasvars, [KIND.group]: range.groupexprs };
    const meant = listItems(shown[String(range.rtekind)])[Number(expression.varattno) - 1];
    return isNode(meant)
      ? this.resolveColumn(meant, level)
      : `${String(expression.varno)}:${String(expression.varattno)}`;
  }

  /** For each column of a range that is no table: true if it is the company. */
  private readOutputs(range: Node, level: Level): boolean[] {
    if (range.rtekind === KIND.subquery) {
      const outputs = this.check(range.subquery as Node, level, () => undefined);
      return outputs === 'all' ? [] : [...outputs];
    }
    if (range.rtekind === KIND.cte) {
      let at: Level = level;
      for (let up = 0; up < Number(range.ctelevelsup); up++) at = at.outer!;
      const outputs = at.ctes.get(String(range.ctename))!;
      // A query that is recursive is judged by its other part.
      return outputs === 'all' ? listItems(range.coltypes).map(() => true) : [...outputs];
    }
    if (range.rtekind !== KIND.values) return [];
    const rows = (range.values_lists as Value[]).map((row) => listNodes(row));
    return rows[0]!.map((_, n) =>
      rows.every((row) => this.resolveColumn(row[n]!, level) === COMPANY),
    );
  }

  /** Checks the subqueries of expressions. */
  private checkSublinks(level: Level, report: (table: string) => void): void {
    const inside = level.ranges.filter(
      ({ rtekind }) => rtekind !== KIND.subquery && rtekind !== KIND.join,
    );
    for (const value of [...listParts(level.query), ...inside])
      walk(value, (node) => {
        if (node.type === 'SUBLINK') this.check(node.subselect as Node, level, report);
        return node.type !== 'QUERY';
      });
  }

  private returned(level: Level): Outputs {
    const { query, ranges } = level;
    if (query.setOperations !== null) {
      const parts = ranges.filter(({ rtekind }) => rtekind === KIND.subquery);
      const outputs = parts.map((part) => this.readOutputs(part, level));
      return outputs[0]!.map((_, n) => outputs.every((output) => output[n]));
    }
    const list = query.commandType === '1' ? query.targetList : query.returningList;
    return listNodes(list).map(({ expr }) => {
      const column = this.resolveColumn(expr as Node, level);
      return column !== undefined && this.isCompany(level, column);
    });
  }

  private unite({ equal }: Level, a: string, b: string): void {
    const [firstRoot, secondRoot] = [findRoot(equal, a), findRoot(equal, b)];
    if (firstRoot === secondRoot) return;
    if (firstRoot === COMPANY) equal.set(secondRoot, firstRoot);
    else equal.set(firstRoot, secondRoot);
  }

  private isCompany({ equal }: Level, column: string): boolean {
    return findRoot(equal, column) === COMPANY;
  }
}

const findRoot = (equal: Map<string, string>, column: string): string => {
  const next = equal.get(column);
  return next === undefined ? column : findRoot(equal, next);
};

/** The items of a list; one of numbers begins with a letter. */
const listItems = (list: Value | undefined): Value[] =>
  Array.isArray(list) ? list.filter((item) => item !== 'o' && item !== 'i') : [];
