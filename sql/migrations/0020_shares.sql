-- Serves programs from version 18 on.
-- Clients are shared between campaigns by their shares, those of one list of claims together.
ALTER TABLE campaigns
    ADD COLUMN list text NOT NULL DEFAULT '',
    ADD COLUMN share real NOT NULL DEFAULT 1 CHECK (share > 0);
UPDATE campaigns SET list = regexp_replace(name, '/[0-9]+$', '')
WHERE claim_lo IS NOT NULL AND name ~ '/[0-9]+$';
CREATE INDEX campaigns_list ON campaigns (list) WHERE list <> '';
